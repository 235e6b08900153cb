// SPDX-License-Identifier: Apache-2.0

/// `users/lookup/id` (web-services 5.11): who has these record names.
///
/// Whoever knows a record name, which is made by chance, has met the user or got it from somebody who did.
package enum LookupUsers: WireEndpoint {
    package typealias Response = UsersResponse
    package static let route = WireRoute(
        .database("users/lookup/id", only: .public), .reads, serverKeys: .notAuthenticated)

    /// The users who are looked up.
    package struct Request: WireBody, Hashable {
        package var userRecordNames: [String]

        /// Creates a request.
        package init(userRecordNames: [String]) {
            self.userRecordNames = userRecordNames
        }

        package var itemCount: Int? { userRecordNames.count }

        /// Reads the request.
        package init(from reader: inout JSONReader) throws {
            userRecordNames = try reader.readMemberList("users") {
                try $0.readOnly("userRecordName")
            }
        }

        /// Writes the request.
        package func write(to writer: inout JSONWriter) {
            writer.object { writer in
                writer.key("users")
                writer.array(userRecordNames) { writer, name in
                    writer.object { $0.member("userRecordName", name) }
                }
            }
        }
    }
}

/// `users/lookup/email` (web-services 5.11), an older form of ``DiscoverUsers``.
package enum LookupUsersByEmail: WireEndpoint {
    package static let route = WireRoute(
        .database("users/lookup/email", only: .public), .reads, serverKeys: .notAuthenticated)

    /// The addresses that are looked up.
    package struct Request: WireBody, Hashable {
        package var emailAddresses: [String]

        /// Creates a request.
        package init(emailAddresses: [String]) {
            self.emailAddresses = emailAddresses
        }

        package var itemCount: Int? { emailAddresses.count }

        /// Reads the request.
        package init(from reader: inout JSONReader) throws {
            emailAddresses = try reader.readMemberList("users") {
                try $0.readOnly("emailAddress")
            }
        }

        /// Writes the request.
        package func write(to writer: inout JSONWriter) {
            writer.object { writer in
                writer.key("users")
                writer.array(emailAddresses) { writer, address in
                    writer.object { $0.member("emailAddress", address) }
                }
            }
        }
    }

    /// A user that was found, with the address they were found by; accounts have no other names
    /// to show.
    package struct FoundUser: Sendable, Hashable {
        package var userRecordName: String
        package var emailAddress: String

        /// Creates a value.
        package init(userRecordName: String, emailAddress: String) {
            self.userRecordName = userRecordName
            self.emailAddress = emailAddress
        }
    }

    /// Those who were found, in the order of the request.
    package struct Response: WireBody, Hashable {
        package var users: [FoundUser]

        /// Creates an answer.
        package init(users: [FoundUser]) {
            self.users = users
        }

        /// Reads the answer.
        package init(from reader: inout JSONReader) throws {
            users = try reader.readMemberList("users") { reader in
                var user = FoundUser(userRecordName: "", emailAddress: "")
                try reader.readObject { reader, name in
                    switch name {
                    case "userRecordName": user.userRecordName = try reader.readString()
                    case "emailAddress": user.emailAddress = try reader.readString()
                    default: try reader.skipValue()
                    }
                }
                return user
            }
        }

        /// Writes the answer.
        package func write(to writer: inout JSONWriter) {
            writer.object { writer in
                writer.key("users")
                writer.array(users) { writer, user in
                    writer.object {
                        $0.member("userRecordName", user.userRecordName)
                        $0.member("emailAddress", user.emailAddress)
                    }
                }
            }
        }
    }
}

/// `users/lookup/contacts` (web-services 5.11): the people in the caller's contacts. The server knows
/// nobody's contacts.
package enum LookupContacts: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = UsersResponse
    package static let route = WireRoute(
        .database("users/lookup/contacts", only: .public), by: .getOrPost, .reads,
        serverKeys: .notAuthenticated)
}

/// `users/discover` (web-services 5.11): users of the app who permitted that others find them. By
/// GET, those in the caller's contacts: the server knows nobody's contacts.
package enum DiscoverUsers: WireEndpoint {
    package typealias Response = UsersResponse
    package static let route = WireRoute(
        .database("users/discover", only: .public), by: [.post, .get], .reads,
        serverKeys: .notAuthenticated)

    /// By what users are looked up.
    package struct Request: WireBody, Hashable {
        package var lookups: [UserLookup]

        /// Creates a request.
        package init(lookups: [UserLookup]) {
            self.lookups = lookups
        }

        package var itemCount: Int? { lookups.count }

        /// Reads the request.
        package init(from reader: inout JSONReader) throws {
            lookups = try reader.readMemberList("lookupInfos") { try UserLookup(from: &$0) }
        }

        /// Writes the request.
        package func write(to writer: inout JSONWriter) {
            writer.object { writer in
                writer.key("lookupInfos")
                writer.array(lookups) { $1.write(to: &$0) }
            }
        }
    }
}

/// Users that were found, in the order of the request; the others are left out.
package struct UsersResponse: WireBody, Hashable {
    package var users: [UserIdentity]

    /// Creates an answer.
    package init(users: [UserIdentity]) {
        self.users = users
    }

    /// Reads the answer.
    package init(from reader: inout JSONReader) throws {
        users = try reader.readMemberList("users") { try UserIdentity(from: &$0) }
    }

    /// Writes the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("users")
            writer.array(users) { $1.write(to: &$0) }
        }
    }
}
