// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore
import TidebellWire

/// What a payload contains, read as a client would.
struct Push: Hashable {
    var kind: WireSubscription.Kind
    var subscriptionID: String
    var scope: DatabaseScope
    var zone: String?
    var zoneOwner: String?
    var record: String?
    var event: RecordEvent?
    /// The number of the save that wrote the record, where the payload has it.
    var version: Int?
    var notificationID: String
    var container: String?
    var owner: String?
    var isPruned: Bool
    var isVisual: Bool
    var badge: Int?

    /// Reads a payload; what is missing or malformed is a violation.
    init(_ payload: [UInt8]) throws {
        try demand(payload.count <= 4096, "a payload has \(payload.count) bytes")
        func missing(_ part: String) -> Violation {
            Violation("a payload has no \(part): \(String(decoding: payload, as: UTF8.self))")
        }
        guard let object = try? JSONSerialization.jsonObject(with: Data(payload)),
            let root = object as? [String: Any], let aps = root["aps"] as? [String: Any],
            let ck = root["ck"] as? [String: Any]
        else { throw missing("aps and ck") }
        let kinds: [String: WireSubscription.Kind] = [
            "qry": .query, "fet": .zone, "met": .database,
        ]
        let parts = kinds.compactMap { key, kind in
            (ck[key] as? [String: Any]).map { (kind: kind, content: $0) }
        }
        guard parts.count == 1, let part = parts.first else { throw missing("one kind") }
        guard let subscriptionID = part.content["sid"] as? String else { throw missing("sid") }
        guard let code = part.content["dbs"] as? Int,
            let scope = DatabaseScope.allCases.first(where: { Self.codes[$0] == code })
        else { throw missing("dbs") }
        guard let notificationID = ck["nid"] as? String,
            UUID(uuidString: notificationID)?.uuidString.lowercased() == notificationID
        else { throw missing("nid") }
        kind = part.kind
        self.subscriptionID = subscriptionID
        self.scope = scope
        self.notificationID = notificationID
        zone = part.content["zid"] as? String
        zoneOwner = part.content["zoid"] as? String
        record = part.content["rid"] as? String
        event = (part.content["fo"] as? Int).flatMap(RecordEvent.init)
        version = (part.content["af"] as? [String: Any])?["version"] as? Int
        container = ck["cid"] as? String
        owner = ck["ckuserid"] as? String
        isPruned = ck["p"] as? Int == 1
        badge = aps["badge"] as? Int
        isVisual = aps["alert"] != nil || badge != nil || aps["sound"] != nil
        try demand(
            isVisual || aps["content-available"] as? Int == 1,
            "a payload neither shows anything nor wakes the app"
        )
    }

    /// The numbers of section 6 of the specification.
    private static let codes: [DatabaseScope: Int] = [.private: 1, .public: 2, .shared: 3]
}
