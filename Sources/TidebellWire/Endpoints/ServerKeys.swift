// SPDX-License-Identifier: Apache-2.0

/// `keys/add`, for the operator: adds the public key of a server-to-server pair (web-services 2.3).
package enum AddServerKey: WireEndpoint {
    package typealias Response = ServerKeysResponse
    package static let route = WireRoute(.of(.admin, "keys/add"), for: .admin, .writes)

    /// The key.
    package struct Request: Sendable, Hashable {
        /// In PEM, as `openssl ec -pubout` prints it.
        package var publicKey = ""
        /// What it is for.
        package var name = "unnamed"
        /// How many days it is good; nil for ever.
        package var days: Int?

        /// Reads the request.
        package init(from reader: inout JSONReader) throws {
            try reader.readObject { reader, member in
                guard try !reader.readNull() else { return }
                switch member {
                case "publicKey": publicKey = try reader.readString()
                case "name": name = try reader.readString()
                case "days": days = try reader.readInt()
                default: try reader.skipValue()
                }
            }
        }
    }
}

/// `keys/list`, for the operator: the server-to-server keys of a container.
package enum ListServerKeys: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = ServerKeysResponse
    package static let route = WireRoute(
        .of(.admin, "keys/list"), by: .getOrPost, for: .admin, .reads)
}

/// `keys/revoke`, for the operator: ends a server-to-server key.
package enum RevokeServerKey: WireEndpoint {
    package typealias Response = ServerKeysResponse
    package static let route = WireRoute(.of(.admin, "keys/revoke"), for: .admin, .repeatable)

    /// The key.
    package struct Request: Sendable, Hashable {
        /// Its ID, or the beginning.
        package var keyID: String

        /// Reads the request.
        package init(from reader: inout JSONReader) throws {
            keyID = try reader.readOnly("keyID")
        }
    }
}

/// The answer about server-to-server keys.
package struct ServerKeysResponse: Sendable, Hashable {
    /// One of them; moments are milliseconds since 1970.
    package struct Key: Sendable, Hashable {
        package var id: String
        package var name: String
        package var createdAt: Int64
        package var usedAt: Int64?
        package var expiresAt: Int64?

        /// Creates a key.
        package init(
            id: String, name: String, createdAt: Int64, usedAt: Int64? = nil,
            expiresAt: Int64? = nil
        ) {
            self.id = id
            self.name = name
            self.createdAt = createdAt
            self.usedAt = usedAt
            self.expiresAt = expiresAt
        }
    }

    package var keys: [Key]

    /// Creates an answer.
    package init(keys: [Key]) { self.keys = keys }

    /// Writes the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("keys")
            writer.array(keys) { writer, key in
                writer.object { writer in
                    writer.member("keyID", key.id)
                    writer.member("name", key.name)
                    writer.member("createdAt", key.createdAt)
                    if let usedAt = key.usedAt { writer.member("usedAt", usedAt) }
                    if let expiresAt = key.expiresAt { writer.member("expiresAt", expiresAt) }
                }
            }
        }
    }
}
