// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellPush
import TidebellServer
import TidebellWire

@testable import TidebellHTTP

/// What somebody is to a zone in which something is shared.
enum Role: String, CaseIterable {
    case owner, admin, writer, reader
    /// An administrator who may read only.
    case viewer
    /// Was invited and did not accept yet.
    case invited
    /// Accepted, and was removed.
    case removed
    /// Accepted, and was blocked.
    case blocked
    /// Asked for access, and has no answer yet.
    case asking
    /// Has a one-time URL, and did not accept yet.
    case holder
    /// Accepted by a one-time URL, to write.
    case joined
    /// Joined by the URL of what is open to read.
    case visitor
    /// Joined by the URL of what is open to write.
    case guest
    /// Is signed in, and has nothing to do with the zone.
    case stranger
    /// Is not signed in.
    case nobody

    /// The root of the share that they ask for.
    var root: String {
        switch self {
        case .visitor: "poster"
        case .guest: "board"
        default: "list"
        }
    }

    /// What they were invited as.
    var invitation: String? {
        switch self {
        case .admin: #""permission":"READ_WRITE","type":"ADMINISTRATOR""#
        case .viewer: #""permission":"READ_ONLY","type":"ADMINISTRATOR""#
        case .writer, .invited, .removed, .blocked: #""permission":"READ_WRITE""#
        case .reader: #""permission":"READ_ONLY""#
        default: nil
        }
    }

    /// Whether a URL was made for whoever opens it first.
    var hasOneTimeURL: Bool { self == .holder || self == .joined }
}

/// People of all roles in one cloud.
final class RoleScene {
    /// Something that is shared three times: "list" with people who were invited, "poster" with whoever
    /// has its URL, to read, and "board" likewise, to write.
    struct Place {
        var name: String
        /// Whether three zones are shared, each as a whole, or three hierarchies in one zone.
        var isZoneWide: Bool
        /// The last parts of the URLs of its shares, by their roots.
        var guids: [String: String] = [:]
        /// The last parts of one-time URLs.
        var oneTimeGUIDs: [Role: String] = [:]

        /// The zone of what is shared.
        func zone(of root: String) -> String { isZoneWide ? "\(name)-\(root)" : name }

        /// The record name of the share of a root.
        func share(of root: String) -> String {
            isZoneWide ? "cloudkit.zoneshare" : "share-\(root)"
        }
    }

    static let roots = ["list", "poster", "board"]

    private let api: TestAPI
    private let isZoneWide: Bool
    private var tokens: [Role: String] = [:]
    private var names: [Role: String] = [:]
    private var places = 0

    init(isZoneWide: Bool) async throws {
        self.isZoneWide = isZoneWide
        api = try await TestAPI()
        tokens[.owner] = api.webToken
        names[.owner] = api.user
        for role in Role.allCases where role != .owner && role != .nobody {
            _ = try await api.cloud.accounts.add(named: role.rawValue)
            let token = try await api.cloud.accounts.makeWebToken(for: role.rawValue)
            tokens[role] = token
            let caller = try await api.send(
                "GET",
                TestAPI.target("public/users/caller", apiToken: api.apiToken, webToken: token))
            names[role] = try JSONReader.read(Array(caller.text.utf8)) {
                try CallerResponse(from: &$0)
            }.userRecordName
        }
    }

    // MARK: Requests

    /// Calls an endpoint of a database.
    private func send(
        _ path: String, _ body: String, as role: Role, isExtended: Bool = false
    ) async throws -> TestAPI.Answer {
        var target =
            "/database/1/\(TestAPI.container)/development/\(path)?ckAPIToken=\(api.apiToken)"
        if let token = tokens[role] { target += "&ckWebAuthToken=\(token)" }
        return try await api.send(
            "POST", target, body, headers: isExtended ? ["X-Tidebell-Extensions": "1"] : [:])
    }

    /// Does what must work.
    @discardableResult
    private func done(
        _ path: String, _ body: String, as role: Role, isExtended: Bool = false
    ) async throws -> String {
        let answer = try await send(path, body, as: role, isExtended: isExtended)
        #expect(!answer.text.contains("serverErrorCode"), "\(path) as \(role): \(answer.text)")
        return answer.text
    }

    private func zoneID(_ zone: String) -> String {
        #""zoneID":{"zoneName":"\#(zone)","ownerRecordName":"\#(names[.owner] ?? "")"}"#
    }

    private func modify(_ operations: String..., in zone: String) -> String {
        "{\(zoneID(zone)),\"operations\":[\(operations.joined(separator: ","))]}"
    }

    private func save(_ name: String, parent: String? = nil, file: String? = nil) -> String {
        let fields = file.map { #""file":{"value":\#($0)}"# } ?? ""
        let above = parent.map { #","parent":{"recordName":"\#($0)"}"# } ?? ""
        return """
            {"operationType":"forceUpdate","record":{"recordName":"\(name)","recordType":"Item",\
            "fields":{\(fields)}\(above)}}
            """
    }

    /// Makes a share; of a zone, unless it has a root.
    private func share(_ name: String, root: String?, _ content: String) -> String {
        let about = root.map { #""forRecord":{"recordName":"\#($0)"},"# } ?? ""
        return """
            {"operationType":"create","record":{"recordName":"\(name)",\(about)\
            "recordType":"cloudkit.share",\(content)}}
            """
    }

    private func changeShare(_ name: String, tag: String, _ content: String) -> String {
        """
        {"operationType":"update","record":{"recordName":"\(name)","recordChangeTag":"\(tag)",\
        "recordType":"cloudkit.share",\(content)}}
        """
    }

    private func delete(_ name: String) -> String {
        #"{"operationType":"forceDelete","record":{"recordName":"\#(name)"}}"#
    }

    private func participants(_ roles: [Role], keeping kept: [String] = []) -> String {
        let list = roles.map { role in
            """
            {"userIdentity":{"lookupInfo":{"userRecordName":"\(names[role] ?? "")"}},\
            \(role.invitation ?? #""permission":"READ_ONLY""#)}
            """
        }
        return #""participants":[\#((list + kept).joined(separator: ","))]"#
    }

    /// A participant whose one-time URL was made.
    private func withOneTimeURL(_ role: Role) -> String {
        #"{"participantId":"\#(role)","usesOneTimeURL":true,"permission":"READ_WRITE"}"#
    }

    // MARK: Places

    /// Makes zones, shares what is in them, and has everybody join who is to.
    func makePlace(withFiles: Bool) async throws -> Place {
        places += 1
        var place = Place(name: "zone-\(places)", isZoneWide: isZoneWide)
        for zone in Set(Self.roots.map(place.zone)) { try await api.makeZone(zone) }
        for root in Self.roots {
            let zone = place.zone(of: root)
            for name in isZoneWide || root == "list" ? [root, "secret"] : [root] {
                let file = withFiles ? try await upload(for: name, in: zone) : nil
                try await done(
                    "private/records/modify", modify(save(name, file: file), in: zone), as: .owner)
            }
            // Everybody deletes a record of their own.
            let children = children(of: root).map { save($0, parent: root) }
            try await done(
                "private/records/modify",
                modify(children.joined(separator: ","), in: zone), as: .owner)
        }
        try await share(in: &place)
        for role in [Role.admin, .viewer, .writer, .reader, .removed, .blocked, .visitor, .guest] {
            try await done("public/records/accept", guids(place, role.root), as: role)
        }
        try await done("public/records/accept", guids(place, "list", for: .joined), as: .joined)
        try await done("public/records/requestAccess", guids(place, "list"), as: .asking)
        let zone = place.zone(of: "list")
        let tag = try await tag(place.share(of: "list"), in: zone, "private", as: .owner)
        let staying = Role.allCases.filter {
            $0.invitation != nil && $0 != .removed && $0 != .blocked
        }
        let oneTime = Role.allCases.filter(\.hasOneTimeURL).map(withOneTimeURL)
        try await done(
            "private/records/modify",
            modify(
                changeShare(
                    place.share(of: "list"), tag: tag,
                    participants(staying, keeping: oneTime)
                        + #","blocked":[{"userIdentity":{"userRecordName":"#
                        + #""\#(names[.blocked] ?? "")"}}]"#),
                in: zone),
            as: .owner, isExtended: true)
        _ = try await api.cloud.pipeline.drain()
        return place
    }

    /// Saves the shares, and learns their URLs.
    private func share(in place: inout Place) async throws {
        let invited = Role.allCases.filter { $0.invitation != nil }
        let oneTime = Role.allCases.filter(\.hasOneTimeURL).map(withOneTimeURL)
        let contents = [
            "list": participants(invited, keeping: oneTime) + #","denyAccessRequests":false"#,
            "poster": #""publicPermission":"READ_ONLY""#,
            "board": #""publicPermission":"READ_WRITE""#,
        ]
        for root in Self.roots {
            let zone = place.zone(of: root)
            let name = place.share(of: root)
            let content = contents[root] ?? ""
            try await done(
                "private/records/modify",
                modify(share(name, root: isZoneWide ? nil : root, content), in: zone),
                as: .owner, isExtended: true)
            let text = try await done(
                "private/records/lookup",
                #"{\#(zoneID(zone)),"records":[{"recordName":"\#(name)"}]}"#, as: .owner,
                isExtended: true)
            place.guids[root] = String(
                try #require(text.firstMatch(of: /"shortGUID":"([^"]+)"/)).1)
            for role in Role.allCases where role.hasOneTimeURL && root == "list" {
                let participant = try #require(
                    text.firstRange(of: #""participantId":"\#(role)""#))
                let rest = text[participant.upperBound...]
                place.oneTimeGUIDs[role] = String(
                    try #require(rest.firstMatch(of: /"oneTimeShortGUID":"([^"]+)"/)).1)
            }
        }
    }

    /// The records below a root: one for each who asks for it, and for the owner.
    private func children(of root: String) -> [String] {
        Role.allCases.filter { $0.root == root || $0 == .owner }.map { "\(root)-\($0)" }
    }

    private func upload(for name: String, in zone: String) async throws -> String {
        let text = try await done(
            "private/assets/upload",
            """
            {\(zoneID(zone)),"tokens":[{"recordName":"\(name)","recordType":"Item",\
            "fieldName":"file"}]}
            """, as: .owner)
        let path = try #require(text.firstMatch(of: /\/assets\/1\/upload\/[^"]+/)).0
        let answer = try await api.send("POST", String(path), "bytes of \(name)")
        return String(try #require(answer.text.firstMatch(of: /"singleFile":(\{.*\})\}$/)).1)
    }

    /// The URL of a share, or the one-time URL that somebody has.
    private func guids(_ place: Place, _ root: String, for role: Role? = nil) -> String {
        let guid = role.flatMap { place.oneTimeGUIDs[$0] } ?? place.guids[root] ?? ""
        return #"{"shortGUIDs":[{"value":"\#(guid)"}]}"#
    }

    private func tag(
        _ name: String, in zone: String, _ database: String, as role: Role
    ) async throws -> String {
        let answer = try await send(
            "\(database)/records/lookup",
            #"{\#(zoneID(zone)),"records":[{"recordName":"\#(name)"}]}"#, as: role)
        // Whoever does not see it guesses.
        return answer.text.firstMatch(of: /"recordChangeTag":"([^"]+)"/).map { String($0.1) } ?? "1"
    }

    /// Who asks for access to the list, as its owner sees it.
    func requesters(in place: Place) async throws -> Set<Role> {
        let text = try await done(
            "private/records/lookup",
            """
            {\(zoneID(place.zone(of: "list"))),\
            "records":[{"recordName":"\(place.share(of: "list"))"}]}
            """, as: .owner)
        let list = try #require(text.firstMatch(of: /"requesters":\[(.*?)\],"blocked"/)).1
        return Set(names.filter { list.contains($0.value) }.keys)
    }

    // MARK: Cells

    /// What a request comes to for a role.
    func cell(
        _ request: String, in place: Place, _ database: DatabaseScope, as role: Role
    ) async throws -> String {
        let path = String(request.prefix { $0 != " " })
        let body = try await body(of: request, in: place, database, as: role)
        let answer = try await send(
            "\(database.rawValue)/\(path)", body, as: role, isExtended: true)
        if answer.text.contains(#""ckCode":\#(CKErrorCode.participantAlreadyInvited)"#) {
            return "wait"
        }
        if let code = answer.text.firstMatch(of: /"serverErrorCode":"([A-Z_]+)"/) {
            return switch code.1 {
            case "ZONE_NOT_FOUND": "zone"
            case "NOT_FOUND": "gone"
            case "ACCESS_DENIED": "deny"
            case "AUTHENTICATION_REQUIRED": "auth"
            case "BAD_REQUEST": "bad"
            case let other: String(other)
            }
        }
        #expect(answer.status == 200, "\(request) in \(database) as \(role): \(answer.text)")
        let wanted: String
        switch path {
        case "zones/list", "zones/changes", "changes/database": wanted = place.zone(of: role.root)
        case "changes/zone", "records/changes", "records/query": wanted = role.root
        case "users/lookup/id", "users/lookup/email", "users/discover":
            wanted = names[.owner] ?? ""
        default: return "ok"
        }
        let others = ["list", "poster", "board", "secret"].filter { $0 != role.root }
        for other in others where role != .owner && !isZoneWide {
            #expect(
                !answer.text.contains(#""recordName":"\#(other)""#),
                "\(request) in \(database) shows \(role) '\(other)'")
        }
        return answer.text.contains("\"\(wanted)\"") ? "seen" : "no"
    }

    private func body(
        of request: String, in place: Place, _ database: DatabaseScope, as role: Role
    ) async throws -> String {
        let root = role.root
        let zone = place.zone(of: root)
        let shareName = place.share(of: root)
        func looking(for name: String) -> String {
            #"{\#(zoneID(zone)),"records":[{"recordName":"\#(name)"}]}"#
        }
        func rereferring(to name: String) -> String {
            #"{\#(zoneID(zone)),"assets":[{"recordName":"\#(name)","fieldName":"file"}]}"#
        }
        func changing(_ content: String) async throws -> String {
            let tag = try await tag(shareName, in: zone, database.rawValue, as: role)
            // Whoever does not see the share cannot name its version; that they may not change it
            // is what they are told then.
            return modify(changeShare(shareName, tag: tag, content), in: zone)
        }
        switch request {
        case "zones/list", "zones/changes", "changes/database", "subscriptions/list",
            "users/caller", "users/current", "users/lookup/contacts":
            return "{}"
        case "zones/lookup": return #"{"zones":[{\#(zoneID(zone).dropFirst(10).dropLast())}]}"#
        case "zones/modify create", "zones/modify delete":
            let type = request.hasSuffix("create") ? "create" : "delete"
            return #"{"operations":[{"operationType":"\#(type)","zone":{\#(zoneID(zone))}}]}"#
        case "changes/zone": return #"{"zones":[{\#(zoneID(zone))}]}"#
        case "records/changes": return "{\(zoneID(zone))}"
        case "records/query": return #"{\#(zoneID(zone)),"query":{"recordType":"Item"}}"#
        case "records/lookup": return looking(for: root)
        case "records/lookup share": return looking(for: shareName)
        case "records/lookup secret": return looking(for: "secret")
        case "records/modify update": return modify(save(root), in: zone)
        case "records/modify create":
            return modify(save("new-\(role)", parent: root), in: zone)
        case "records/modify create top": return modify(save("top-\(role)"), in: zone)
        case "records/modify secret": return modify(save("secret"), in: zone)
        case "records/modify move out":
            return modify(
                """
                {"operationType":"forceUpdate","record":{"recordName":"\(root)-\(role)",\
                "recordType":"Item","fields":{},"parent":null}}
                """, in: zone)
        case "records/modify delete": return modify(delete("\(root)-\(role)"), in: zone)
        case "records/modify delete root":
            guard role == .owner || isZoneWide else { return modify(delete(root), in: zone) }
            // A root goes with its children.
            return modify(
                (children(of: root) + [root]).map { delete($0) }.joined(separator: ","), in: zone)
        case "records/modify title":
            return try await changing(#""fields":{"cloudkit.title":{"value":"Ours"}}"#)
        case "records/modify invite":
            let kept: [Role] = [.admin, .viewer, .writer, .reader, .invited, .stranger]
            return try await changing(
                participants(kept, keeping: [Role.holder, .joined].map(withOneTimeURL)))
        case "records/modify answer":
            return try await changing(#""requesters":[]"#)
        case "records/modify open":
            return try await changing(#""publicPermission":"READ_ONLY""#)
        case "records/modify share":
            return modify(
                share("share-secret", root: "secret", participants([.stranger])), in: zone)
        case "records/modify leave": return modify(delete(shareName), in: zone)
        case "records/resolve", "records/accept", "records/requestAccess":
            return guids(place, root, for: role)
        case "records/resolve plain", "records/accept plain", "records/requestAccess plain":
            return guids(place, root)
        case "records/resolve open", "records/accept open", "records/requestAccess open":
            return guids(place, "poster")
        case "assets/upload":
            return """
                {\(zoneID(zone)),"tokens":[{"recordName":"\(root)","recordType":"Item",\
                "fieldName":"file"}]}
                """
        case "assets/rereference": return rereferring(to: root)
        case "assets/rereference secret": return rereferring(to: "secret")
        case "subscriptions/lookup":
            return #"{"subscriptions":[{"subscriptionID":"none"}]}"#
        case "subscriptions/modify":
            return """
                {"operations":[{"operationType":"create","subscription":{"subscriptionID":"all",\
                "subscriptionType":"database",\
                "notificationInfo":{"shouldSendContentAvailable":true}}}]}
                """
        case "subscriptions/modify zone":
            return """
                {"operations":[{"operationType":"create","subscription":{"subscriptionID":\
                "\(zone)","subscriptionType":"zone",\(zoneID(zone)),\
                "notificationInfo":{"shouldSendContentAvailable":true}}}]}
                """
        case "users/lookup/id":
            return #"{"users":[{"userRecordName":"\#(names[.owner] ?? "")"}]}"#
        case "users/lookup/email": return #"{"users":[{"emailAddress":"owner@example.org"}]}"#
        case "users/discover":
            return #"{"lookupInfos":[{"emailAddress":"owner@example.org"}]}"#
        default:
            Issue.record("no request '\(request)'")
            return "{}"
        }
    }
}
