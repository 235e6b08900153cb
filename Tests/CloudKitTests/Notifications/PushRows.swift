// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing

/// The pushes of section 6 of the behaviour specification, as literal dictionaries.
enum PushRows {
    static let user = "_0123456789abcdef0123456789abcdef"
    static let container = "iCloud.com.example.app"
    static let nid = "9f1f6b1c-0f9e-4e0f-8a5e-2f6d1f3f6d5a"

    /// A row: its number, the push, and what the parser makes of it.
    struct Row: CustomTestStringConvertible, @unchecked Sendable {
        // Sendable: the dictionaries hold constants only.
        let name: String
        let push: [AnyHashable: Any]
        let expected: Parsed
        var testDescription: String { name }
    }

    /// What is compared of a parsed push.
    struct Parsed: Equatable {
        var kind: String
        var container: String? = PushRows.container
        var owner: String? = PushRows.user
        var nid = true
        var subscription: String?
        var scope: CKDatabase.Scope?
        var zone: CKRecordZone.ID?
        var record: String?
        var reason: CKQueryNotification.Reason?
        var fields: [String: String]?
        var alertBody: String?
        var title: String?
        var subtitle: String?
        var badge: Int?
        var sound: String?
        var category: String?
    }

    static var silent: [String: Any] {
        ["content-available": 1]
    }

    static func ck(_ more: [String: Any], aux: Bool = false) -> [String: Any] {
        var ck: [String: Any] = ["ce": 2, "cid": container, "ckuserid": user, "nid": nid]
        if aux { ck["aux"] = [String: Any]() }
        return ck.merging(more) { $1 }
    }

    static let userZone = CKRecordZone.ID.default
    static let coreDataZone = CKRecordZone.ID(zoneName: "com.apple.coredata.cloudkit.zone")
    static var coreData: [String: Any] {
        [
            "dbs": 1, "sid": "com.apple.coredata.cloudkit.private.subscription",
            "zid": "com.apple.coredata.cloudkit.zone", "zoid": user,
        ]
    }
    static let coreDataSubscription = "com.apple.coredata.cloudkit.private.subscription"
    static var qry: [String: Any] {
        [
            "dbs": 1, "fo": 1, "rid": "record", "sid": "7CE1", "zid": "_defaultZone", "zoid": user,
        ]
    }
    static var publicQry: [String: Any] {
        [
            "dbs": 2, "fo": 1, "rid": "record", "sid": "7CE1", "zid": "_defaultZone",
            "zoid": "_defaultOwner",
        ]
    }
    static let privateQuery = Parsed(
        kind: "query",
        subscription: "7CE1",
        scope: .private,
        zone: userZone,
        record: "record",
        reason: .recordCreated
    )
    static let publicQuery = Parsed(
        kind: "query",
        subscription: "7CE1",
        scope: .public,
        zone: .default,
        record: "record",
        reason: .recordCreated
    )
    static let database = Parsed(
        kind: "database",
        subscription: coreDataSubscription,
        scope: .private,
        zone: coreDataZone
    )

    /// Returns `parsed` with some parts changed.
    static func with(_ parsed: Parsed, _ change: (inout Parsed) -> Void) -> Parsed {
        var parsed = parsed
        change(&parsed)
        return parsed
    }

    static let rows: [Row] = skeletonRows + databaseRows + queryRows + otherRows

    private static let skeletonRows: [Row] = [
        Row(
            name: "P1",
            push: ["ck": ["ce": 2, "cid": container, "nid": nid] as [String: Any]],
            expected: Parsed(kind: "none", owner: nil)
        ),
        Row(
            name: "P17",
            push: ["ck": ["ce": 2, "cid": container] as [String: Any]],
            expected: Parsed(kind: "none", owner: nil, nid: false)
        ),
    ]

    private static let databaseRows: [Row] = [
        Row(
            name: "P2", push: ["aps": silent, "ck": ck(["met": coreData], aux: true)],
            expected: database),
        Row(name: "P3", push: ["aps": silent, "ck": ck(["met": coreData])], expected: database),
        Row(name: "P9", push: ["aps": silent, "ck": ck(["met": coreData])], expected: database),
        Row(
            name: "P10", push: ["aps": silent, "ck": ck(["met": coreData], aux: true)],
            expected: database),
        Row(
            name: "P11",
            push: ["ck": ["met": ["sid": "s", "zid": "Z"]]],
            expected: Parsed(
                kind: "database",
                container: nil,
                owner: nil,
                nid: false,
                subscription: "s",
                scope: .private,
                zone: CKRecordZone.ID(zoneName: "Z")
            )
        ),
        Row(
            name: "P14",
            push: [
                "aps": ["content-available": Int64(1)],
                "ck": [
                    "met": ["zid": "Thoughts", "sid": "s", "zoid": user, "dbs": Int64(1)]
                        as [String: Any],
                    "ckuserid": user, "ce": Int64(2), "aux": [String: Any](), "nid": nid,
                    "cid": container,
                ] as [String: Any],
            ],
            expected: with(database) {
                $0.subscription = "s"
                $0.zone = CKRecordZone.ID(zoneName: "Thoughts")
            }
        ),
        Row(
            name: "P16",
            push: ["ck": ["cid": container, "met": ["dbs": 1]] as [String: Any]],
            expected: Parsed(kind: "database", owner: nil, nid: false, scope: .private)
        ),
        Row(
            name: "P16, empty",
            push: ["ck": ["cid": container, "met": [String: Any]()] as [String: Any]],
            expected: Parsed(kind: "database", owner: nil, nid: false, scope: .private)
        ),
    ]

    private static let queryRows: [Row] = [
        Row(name: "P4", push: ["aps": silent, "ck": ck(["qry": qry])], expected: privateQuery),
        Row(
            name: "P5",
            push: [
                "aps": ["alert": "text", "badge": 180, "sound": "default"] as [String: Any],
                "ck": ck(["qry": qry]),
            ],
            expected: with(privateQuery) {
                $0.alertBody = "text"
                $0.badge = 180
                $0.sound = "default"
            }
        ),
        Row(
            name: "P6",
            push: [
                "aps": ["alert": ["body": "b", "title": "t"], "sound": "default"] as [String: Any],
                "ck": ck([
                    "qry": qry.merging(["af": ["k1": "1", "k2": "2", "k3": "3"]]) { $1 }
                ]),
            ],
            expected: with(privateQuery) {
                $0.alertBody = "b"
                $0.title = "t"
                $0.sound = "default"
                $0.fields = ["k1": "1", "k2": "2", "k3": "3"]
            }
        ),
        Row(
            name: "P7",
            push: [
                "aps": ["alert": ["body": "b", "subtitle": "s", "title": "t"], "sound": "default"]
                    as [String: Any],
                "ck": ck(["qry": qry]),
            ],
            expected: with(privateQuery) {
                $0.alertBody = "b"
                $0.title = "t"
                $0.subtitle = "s"
                $0.sound = "default"
            }
        ),
        Row(
            name: "P8", push: ["aps": silent, "ck": ck(["qry": publicQry])], expected: publicQuery),
        Row(
            name: "P12",
            push: [
                "aps": ["alert": ["body": "b"]],
                "ck": [
                    "nid": nid, "cid": container,
                    "qry": [
                        "sid": "7CE1", "rid": "record", "fo": 1, "zid": "_defaultZone", "dbs": 1,
                    ] as [String: Any],
                ] as [String: Any],
            ],
            expected: with(privateQuery) {
                $0.owner = nil
                $0.zone = .default
                $0.alertBody = "b"
            }
        ),
        Row(
            name: "P13",
            push: [
                "aps": silent,
                "ck": ck(["qry": publicQry.merging(["af": ["title": "t", "body": "b"]]) { $1 }]),
            ],
            expected: with(publicQuery) { $0.fields = ["title": "t", "body": "b"] }
        ),
        Row(
            name: "P15",
            push: [
                "ck": ck([
                    "qry": publicQry.merging(["af": ["topic": "t", "conversation": "c"]]) { $1 }
                ])
            ],
            expected: with(publicQuery) { $0.fields = ["topic": "t", "conversation": "c"] }
        ),
        Row(
            name: "P20",
            push: ["ck": ck(["qry": publicQry.merging(["fo": 3, "af": ["k": "v"]]) { $1 }])],
            expected: with(publicQuery) {
                $0.reason = .recordDeleted
                $0.fields = ["k": "v"]
            }
        ),
        Row(
            name: "P21",
            push: [
                "aps": ["category": "Item"],
                "ck": [
                    "ckuserid": user,
                    "qry": ["rid": "record", "sid": "7CE1", "zid": "Z"],
                ] as [String: Any],
            ],
            expected: with(privateQuery) {
                $0.container = nil
                $0.nid = false
                $0.zone = CKRecordZone.ID(zoneName: "Z")
                $0.reason = .recordUpdated
                $0.category = "Item"
            }
        ),
    ]

    private static let otherRows: [Row] = [
        Row(
            name: "P18, zone",
            push: [
                "aps": ["alert": ["body": "b"], "category": "c"] as [String: Any],
                "ck": ck(["fet": ["dbs": 1, "sid": "s", "zid": "Z", "zoid": user] as [String: Any]]
                ),
            ],
            expected: Parsed(
                kind: "recordZone",
                subscription: "s",
                scope: .private,
                zone: CKRecordZone.ID(zoneName: "Z"),
                alertBody: "b",
                category: "c"
            )
        ),
        Row(
            name: "P18, shared database",
            push: ["ck": ck(["met": ["dbs": 3, "sid": "s"] as [String: Any]])],
            expected: Parsed(kind: "database", subscription: "s", scope: .shared)
        ),
        Row(
            name: "P19",
            push: [
                "aps": silent,
                "ck": [
                    "ckuserid": user, "nid": nid, "cid": container,
                    "fet": ["zid": "Z", "zoid": user],
                ] as [String: Any],
            ],
            expected: Parsed(
                kind: "recordZone",
                scope: .private,
                zone: CKRecordZone.ID(zoneName: "Z")
            )
        ),
    ]
}
