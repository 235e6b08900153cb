// SPDX-License-Identifier: Apache-2.0

/// The path of an endpoint.
package struct WirePath: Sendable, Hashable {
    /// The version of the protocol, the second part of all paths but the server's own.
    package static let version = "1"

    /// The kinds of paths, by their first part.
    package enum Root: String, Sendable, Hashable {
        /// `/database/1/{container}/{environment}/{database}/{action}` (web-services 5).
        case database
        /// `/device/1/{container}/{environment}/{action}` (web-services 5.12).
        case device
        /// `/ext/1/{container}/{environment}/{action}` (web-services 9).
        case ext
        /// `/admin/1/{container}/{environment}/{action}`, for the operator.
        case admin
        /// `/admin/1/{action}`: what a test holds the server by (web-services 9).
        case control
        /// `/assets/1/{action}/{token}`, and a file name behind it (web-services 4.4, 5.9).
        case assets
        /// `/{action}` or `/{action}/{argument}`: of the server itself.
        case server = ""

        /// The kind of a path, by the parts between its slashes.
        package init(_ segments: [String]) {
            let isVersioned = segments.count > 1 && segments[1] == WirePath.version
            let root = isVersioned ? Root(rawValue: segments[0]) ?? .server : .server
            switch root {
            case .admin where segments.count == 3: self = .control
            // Its paths do not begin with its name.
            case .control: self = .server
            default: self = root
            }
        }

        /// What stands before the container, or before the action of a path without one.
        package var prefix: String {
            switch self {
            case .server: "/"
            case .control: Root.admin.prefix
            default: "/\(rawValue)/\(WirePath.version)/"
            }
        }
    }

    /// The kind of path.
    package var root: Root
    /// What is done, such as `records/modify`.
    package var action: String
    /// The only database that has the endpoint; nil for all.
    package var onlyScope: DatabaseScope?

    /// The path of a database's endpoint.
    package static func database(
        _ action: String, only scope: DatabaseScope? = nil
    ) -> WirePath {
        WirePath(root: .database, action: action, onlyScope: scope)
    }

    /// The path of an endpoint of any other kind.
    package static func of(_ root: Root, _ action: String) -> WirePath {
        WirePath(root: root, action: action)
    }

    /// Returns the path in a container.
    ///
    /// - Parameter scope: The database, of a path that has one; nil is the only one.
    package func text(
        in container: String, _ environment: String, _ scope: DatabaseScope? = nil
    ) -> String {
        let database = (scope ?? onlyScope).map { "/\($0.rawValue)" } ?? ""
        return "\(root.prefix)\(container)/\(environment)\(database)/\(action)"
    }

    /// What stands before the token or the argument, of a path without a container.
    package var stem: String { action.isEmpty ? root.prefix : "\(root.prefix)\(action)/" }
}
