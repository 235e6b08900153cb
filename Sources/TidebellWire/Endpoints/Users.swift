// SPDX-License-Identifier: Apache-2.0

/// `users/lookup/id` (web-services 5.11): who has these record names.
///
/// Whoever knows a record name, which is made by chance, has met the user or was told.
package enum LookupUsers: WireEndpoint {
    package typealias Response = UsersResponse
    package static let route = WireRoute(.database("users/lookup/id", only: .public), .reads)

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

/// `users/discover` (web-services 5.11): users of the app who permitted that others find them.
package enum DiscoverUsers: WireEndpoint {
    package typealias Response = UsersResponse
    package static let route = WireRoute(.database("users/discover", only: .public), .reads)

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
