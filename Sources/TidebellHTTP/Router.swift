// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// All routes of the API.
package enum Router {
    /// The endpoints of containers (web-services 2 to 5, 9).
    static let containerEndpoints: [any Endpoint.Type] = [
        ListZones.self, LookupZones.self, ModifyZones.self, FetchChangedZones.self,
        QueryRecords.self, LookupRecords.self, ModifyRecords.self, FetchRecordChanges.self,
        ResolveShares.self, AcceptShares.self, RequestShareAccess.self,
        UploadAssets.self, RereferenceAssets.self,
        FetchDatabaseChanges.self, FetchZoneChanges.self,
        ListSubscriptions.self, LookupSubscriptions.self, ModifySubscriptions.self,
        FetchCaller.self, LookupUsers.self, LookupUsersByEmail.self, LookupContacts.self,
        DiscoverUsers.self,
        CreateToken.self, RegisterToken.self,

        SignIn.self, BeginDeviceSignIn.self, FinishDeviceSignIn.self, SignOut.self,
        FetchWebAuthToken.self, ModifyPermission.self,
        StreamNotifications.self, AcknowledgeNotifications.self,
        FetchNotificationChanges.self, MarkNotificationsRead.self, ModifyBadge.self,
    ]

    private static let adminEndpoints: [any AdminEndpoint.Type] = [
        ExplainPush.self, ExplainQuery.self, AddServerKey.self, ListServerKeys.self,
        RevokeServerKey.self,
        ExportSchema.self, ImportSchema.self, ValidateSchema.self, DiffSchema.self,
        DeploySchema.self, ListDeployments.self, IndexField.self, ResetSchema.self,
        CheckSchema.self,
    ]
    private static let controlEndpoints: [any ControlEndpoint.Type] = [
        MoveClock.self, InjectFaults.self,
    ]
    private static let serverEndpoints: [any ServerEndpoint.Type] = [
        ReportHealth.self, ReportReadiness.self, ReportVersion.self, ReportMetrics.self,
        PollCourier.self,
        ShowWelcome.self, SendScript.self, SendOpenAPI.self, SendReference.self,
    ]
    private static let assetEndpoints: [any AssetEndpoint.Type] = [
        ReceiveAsset.self, SendAsset.self,
    ]

    /// Endpoints by the segments of their action: a request is found by a slice of its path, without a
    /// key of its own.
    typealias Table<Endpoint> = [ArraySlice<String>: Endpoint]

    /// The endpoints of the paths of all databases, by action.
    static let database = table(of: containerEndpoints, at: .database) { $0.route }
    /// Those of the public database only (web-services 2.1).
    static let publicDatabase = table(of: containerEndpoints, at: .database, only: .public) {
        $0.route
    }
    /// The endpoints of devices.
    static let device = table(of: containerEndpoints, at: .device) { $0.route }
    /// The endpoints of the extensions.
    static let extensions = table(of: containerEndpoints, at: .ext) { $0.route }
    /// The endpoints for the operator.
    static let admin = table(of: adminEndpoints, at: .admin) { $0.route }
    /// What a test holds the server by.
    static let controls = table(of: controlEndpoints, at: .control) { $0.route }
    /// The endpoints of the server itself.
    static let server = table(of: serverEndpoints, at: .server) { $0.route }
    /// The pages for people.
    static let pages: [any WebPage.Type] = [
        ShowShare.self, ShowSignIn.self, FinishSignIn.self, ShowDeviceSignIn.self, ShowAccount.self,
        ShowPasswordReset.self,
    ]
    /// The same, by what their paths begin with.
    private static let pageNames = pages.map { (name: "/\($0.route.path.action)", page: $0) }
    /// The endpoints of files, called by clients that the URL was given to.
    static let assets = table(of: assetEndpoints, at: .assets) { $0.route }

    private static func table<Endpoint>(
        of endpoints: [Endpoint], at root: WirePath.Root, only scope: DatabaseScope? = nil,
        _ route: (Endpoint) -> WireRoute
    ) -> Table<Endpoint> {
        var table: Table<Endpoint> = [:]
        for endpoint in endpoints {
            for path in route(endpoint).paths where path.root == root && path.onlyScope == scope {
                table[path.action.split(separator: "/").map(String.init)[...]] = endpoint
            }
        }
        return table
    }

    /// Where a request goes.
    enum Destination {
        case asset(any AssetEndpoint.Type, token: String)
        case server(any ServerEndpoint.Type, argument: String)
        case container(any Endpoint.Type, ContainerKey, DatabaseScope)
        case admin(any AdminEndpoint.Type, ContainerKey)
        case control(any ControlEndpoint.Type)

        var route: WireRoute {
            switch self {
            case .asset(let endpoint, _): endpoint.route
            case .server(let endpoint, _): endpoint.route
            case .container(let endpoint, _, _): endpoint.route
            case .admin(let endpoint, _): endpoint.route
            case .control(let endpoint): endpoint.route
            }
        }
    }

    /// Returns the page whose path this is, with what follows its name; nil for whatever is none.
    static func page(of target: String) -> (page: any WebPage.Type, argument: String)? {
        for (name, page) in pageNames where target.utf8.starts(with: name.utf8) {
            let named = page.route.path.action.split(separator: "/").map(String.init)
            guard let segments = try? RequestTarget(target).segments, segments.starts(with: named)
            else { continue }
            let rest = segments.dropFirst(named.count)
            guard rest.count == (page.takesArgument ? 1 : 0) else { continue }
            return (page, rest.first ?? "")
        }
        return nil
    }

    /// Finds the endpoint of a path, or fails with the sentence that names what
    /// is wrong with it.
    static func destination(of target: RequestTarget) throws -> Destination {
        let segments = target.segments
        switch (WirePath.Root(segments), segments.count) {
        // `users/lookup/id` has one segment more than the others.
        case (.database, 7...8):
            return try inDatabase(segments, of: target)
        case (.device, 6):
            return try inContainer(device, segments, of: target)
        case (.ext, 6):
            return try inContainer(extensions, segments, of: target)
        case (.admin, 6):
            guard let endpoint = admin[segments[4...]] else { throw WireError.noEndpoint(target) }
            return .admin(endpoint, try container(segments))
        case (.control, _):
            guard let endpoint = controls[segments[2...]] else {
                throw WireError.noEndpoint(target)
            }
            return .control(endpoint)
        // A file name may follow; it is the client's business (web-services 4.4).
        case (.assets, 4...5):
            guard let endpoint = assets[segments[2...2]] else { throw WireError.noEndpoint(target) }
            return .asset(endpoint, token: segments[3])
        case (.server, 0...2):
            // The welcome page has no name.
            guard let endpoint = server[segments.prefix(1)] else {
                throw WireError.noEndpoint(target)
            }
            return .server(endpoint, argument: segments.count == 2 ? segments[1] : "")
        default:
            throw WireError.noEndpoint(target)
        }
    }

    private static func inDatabase(
        _ segments: [String], of target: RequestTarget
    ) throws -> Destination {
        let action = segments[5...]
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
        _ routes: Table<any Endpoint.Type>, _ segments: [String], of target: RequestTarget
    ) throws -> Destination {
        guard let endpoint = routes[segments[4...]] else { throw WireError.noEndpoint(target) }
        // They are about the user's devices, which no database owns.
        return .container(endpoint, try container(segments), .private)
    }

    private static func container(_ segments: [String]) throws -> ContainerKey {
        let name = segments[2]
        guard Identifier.isContainer(name) else {
            throw WireError.badRequest(
                "container '\(WireError.shortened(name))' must be letters, digits, '.' and '-', "
                    + "at most \(Identifier.containerLength)"
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
}

extension WireError {
    /// No endpoint has this path; the words are CloudKit's (web-services 1.1).
    static func noEndpoint(_ target: RequestTarget) -> WireError {
        WireError(
            .notFound, "could not find handler for endpoint '\(shortened(target.path, to: 200))'"
        )
    }
}
