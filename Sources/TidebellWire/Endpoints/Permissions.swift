// SPDX-License-Identifier: Apache-2.0

/// A permission an app can ask its user for (ACCT-6).
package enum ApplicationPermission: String, Sendable, Hashable {
    /// That other users of the app find the user.
    case userDiscoverability
}

/// What a user answered to an app that asked for a permission.
package enum PermissionAnswer: String, Sendable, Hashable {
    case granted
    case denied
}

/// `account/permission`, an extension: reads, asks for or decides a permission of
/// the caller in a container (ACCT-6).
package enum ModifyPermission: WireEndpoint {
    // Each action leads to the same end however often it is sent.
    package static let route = WireRoute(
        .of(.ext, "account/permission"), .repeatable, serverKeys: .denied)

    /// What is to be done.
    package enum Action: String, Sendable, Hashable {
        /// Nothing: the answer reports the permission.
        case read
        /// The app asks: granted unless the user decided before.
        case request
        /// The user decides.
        case grant, deny
        /// The user takes the decision back.
        case reset
    }

    /// The permission, and what is to be done with it.
    package struct Request: WireBody, Hashable {
        package var permission: ApplicationPermission
        package var action: Action

        /// Creates a request.
        package init(_ permission: ApplicationPermission, _ action: Action) {
            self.permission = permission
            self.action = action
        }

        /// Writes the request.
        package func write(to writer: inout JSONWriter) {
            writer.object { writer in
                writer.member("permission", permission.rawValue)
                writer.member("action", action.rawValue)
            }
        }

        /// Reads the request.
        package init(from reader: inout JSONReader) throws {
            var (permission, action): (ApplicationPermission?, Action?)
            try reader.readObject { reader, name in
                switch name {
                case "permission":
                    permission = ApplicationPermission(rawValue: try reader.readName())
                    guard permission != nil else { throw JSONError("unknown permission") }
                case "action":
                    action = Action(rawValue: try reader.readName())
                    guard action != nil else { throw JSONError("unknown action") }
                default: try reader.skipValue()
                }
            }
            guard let permission else { throw JSONError("missing required field 'permission'") }
            self.init(permission, action ?? .read)
        }
    }

    /// How the permission stands; nil before the user decided.
    package struct Response: WireBody, Hashable {
        package var answer: PermissionAnswer?

        /// Creates an answer.
        package init(answer: PermissionAnswer?) {
            self.answer = answer
        }

        /// Writes the answer.
        package func write(to writer: inout JSONWriter) {
            writer.object { $0.member("answer", answer?.rawValue) }
        }

        /// Reads the answer.
        package init(from reader: inout JSONReader) throws {
            var answer: PermissionAnswer?
            try reader.readObject { reader, name in
                if name == "answer" {
                    answer = try reader.readOptional { try $0.readString() }
                        .flatMap(PermissionAnswer.init)
                } else {
                    try reader.skipValue()
                }
            }
            self.answer = answer
        }
    }
}
