// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// All routes of the API.
package enum Router {
    /// `/database/1/{container}/{environment}/{database}/…` (web-services 5).
    static let database: [String: any Endpoint.Type] = [
        "zones/list": ListZones.self,
        "zones/lookup": LookupZones.self,
        "zones/modify": ModifyZones.self,
        "zones/changes": FetchChangedZones.self,

        "records/query": QueryRecords.self,
        "records/lookup": LookupRecords.self,
        "records/modify": ModifyRecords.self,
        "records/changes": FetchRecordChanges.self,

        "assets/upload": UploadAssets.self,
        "assets/rereference": RereferenceAssets.self,

        "changes/database": FetchDatabaseChanges.self,
        "changes/zone": FetchZoneChanges.self,

        "subscriptions/list": ListSubscriptions.self,
        "subscriptions/lookup": LookupSubscriptions.self,
        "subscriptions/modify": ModifySubscriptions.self,

        // The documented place of the token endpoints; clients use `/device`.
        "tokens/create": CreateToken.self,
        "tokens/register": RegisterToken.self,
    ]

    /// The same with the public database only (web-services 2.1).
    static let publicDatabase: [String: any Endpoint.Type] = [
        "users/caller": FetchCaller.self,
        "users/current": FetchCaller.self,
    ]

    /// `/device/1/{container}/{environment}/…` (web-services 5.12).
    static let device: [String: any Endpoint.Type] = [
        "tokens/create": CreateToken.self,
        "tokens/register": RegisterToken.self,
    ]

    /// `/ext/1/{container}/{environment}/…` (web-services 9).
    static let extensions: [String: any Endpoint.Type] = [
        "account/signIn": SignIn.self,
        "account/signOut": SignOut.self,
        "account/webToken": FetchWebAuthToken.self,
        "account/permission": ModifyPermission.self,

        "notifications/stream": StreamNotifications.self,
        "notifications/ack": AcknowledgeNotifications.self,
        "notifications/changes": FetchNotificationChanges.self,
        "notifications/markRead": MarkNotificationsRead.self,
        "notifications/badge": ModifyBadge.self,
    ]

    /// `/admin/1/{container}/{environment}/…`, for the operator.
    static let admin: [String: any AdminEndpoint.Type] = [
        "push/explain": ExplainPush.self
    ]

    /// `/…` and `/…/{argument}`.
    static let server: [String: any ServerEndpoint.Type] = [
        "health": ReportHealth.self,
        "ready": ReportReadiness.self,
        "courier": PollCourier.self,
    ]

    /// `/assets/1/…/{token}`, called by whom the URL was given to.
    static let assets: [String: any AssetEndpoint.Type] = [
        "upload": ReceiveAsset.self,
        "download": SendAsset.self,
    ]

    /// Where a request goes.
    enum Destination {
        case asset(any AssetEndpoint.Type, token: String)
        case server(any ServerEndpoint.Type, argument: String)
        case container(any Endpoint.Type, ContainerKey, DatabaseScope)
        case admin(any AdminEndpoint.Type, ContainerKey)

        var methods: [WebRequest.Method] {
            switch self {
            case .asset(let endpoint, _): endpoint.methods
            case .server: [.get, .head]
            case .container(let endpoint, _, _): endpoint.methods
            case .admin: .getOrPost
            }
        }
    }

    /// Finds the endpoint of a path, or fails with the sentence that names what
    /// is wrong with it.
    static func destination(of target: RequestTarget) throws -> Destination {
        let segments = target.segments
        switch (segments.first, segments.count) {
        case ("database", 7) where segments[1] == "1":
            return try inDatabase(segments, of: target)
        case ("device", 6) where segments[1] == "1":
            return try inContainer(device, segments, of: target)
        case ("ext", 6) where segments[1] == "1":
            return try inContainer(extensions, segments, of: target)
        case ("admin", 6) where segments[1] == "1":
            guard let endpoint = admin["\(segments[4])/\(segments[5])"] else {
                throw WireError.noEndpoint(target)
            }
            return .admin(endpoint, try container(segments))
        // A file name may follow; it is the client's business (web-services 4.4).
        case ("assets", 4...5) where segments[1] == "1":
            guard let endpoint = assets[segments[2]] else { throw WireError.noEndpoint(target) }
            return .asset(endpoint, token: segments[3])
        case (let name?, 1...2):
            guard let endpoint = server[name] else { throw WireError.noEndpoint(target) }
            return .server(endpoint, argument: segments.count == 2 ? segments[1] : "")
        default:
            throw WireError.noEndpoint(target)
        }
    }

    private static func inDatabase(
        _ segments: [String], of target: RequestTarget
    ) throws -> Destination {
        let action = "\(segments[5])/\(segments[6])"
        let container = try container(segments)
        guard let scope = DatabaseScope(rawValue: segments[4]) else {
            throw WireError.badRequest(
                "unknown database '\(WireError.shortened(segments[4]))': "
                    + "expected 'public', 'private' or 'shared'"
            )
        }
        if let endpoint = database[action] { return .container(endpoint, container, scope) }
        guard let endpoint = publicDatabase[action] else { throw WireError.noEndpoint(target) }
        guard scope == .public else {
            throw WireError.badRequest(
                "endpoint not applicable in the database type '\(scope.rawValue)db'"
            )
        }
        return .container(endpoint, container, scope)
    }

    private static func inContainer(
        _ routes: [String: any Endpoint.Type], _ segments: [String], of target: RequestTarget
    ) throws -> Destination {
        guard let endpoint = routes["\(segments[4])/\(segments[5])"] else {
            throw WireError.noEndpoint(target)
        }
        // They are about the user's devices, which no database owns.
        return .container(endpoint, try container(segments), .private)
    }

    private static func container(_ segments: [String]) throws -> ContainerKey {
        let name = segments[2]
        guard name.utf8.count <= containerLength, name.utf8.allSatisfy(isContainerByte) else {
            throw WireError.badRequest(
                "container '\(WireError.shortened(name))' must be letters, digits, '.' and '-', "
                    + "at most \(containerLength)"
            )
        }
        guard let environment = CloudEnvironment(rawValue: segments[3]) else {
            throw WireError.badRequest(
                "unknown environment '\(WireError.shortened(segments[3]))': "
                    + "expected 'development' or 'production'"
            )
        }
        return ContainerKey(container: name, environment: environment)
    }

    /// The longest container identifier (web-services 1.1 knows no rule).
    private static let containerLength = 255

    private static func isContainerByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

extension WireError {
    /// No endpoint has this path; the words are CloudKit's (web-services 1.1).
    fileprivate static func noEndpoint(_ target: RequestTarget) -> WireError {
        WireError(
            .notFound, "could not find handler for endpoint '\(shortened(target.path, to: 200))'"
        )
    }
}
