// SPDX-License-Identifier: Apache-2.0

/// `schema/export`, for the operator: the schema of the container as a `.ckdb` file (web-services 7).
package enum ExportSchema: WireEndpoint {
    package typealias Request = EmptyBody
    package static let route = WireRoute(
        .of(.admin, "schema/export"), by: .getOrPost, for: .admin, .reads)

    /// The file.
    package struct Response: Sendable, Hashable {
        package var schema: String

        /// Creates an answer.
        package init(schema: String) { self.schema = schema }

        /// Writes the answer.
        package func write(to writer: inout JSONWriter) {
            writer.object { $0.member("schema", schema) }
        }
    }
}

/// `schema/import`, for the operator: gives development the schema of a file.
package enum ImportSchema: WireEndpoint {
    package typealias Request = SchemaFileRequest
    package typealias Response = SchemaChangesResponse
    package static let route = WireRoute(.of(.admin, "schema/import"), for: .admin, .repeatable)
}

/// `schema/validate`, for the operator: what an import would change.
package enum ValidateSchema: WireEndpoint {
    package typealias Request = SchemaFileRequest
    package typealias Response = SchemaChangesResponse
    package static let route = WireRoute(.of(.admin, "schema/validate"), for: .admin, .reads)
}

/// `schema/reset`, for the operator: gives development the schema that production has, and removes
/// its data (ENV-8).
package enum ResetSchema: WireEndpoint {
    package static let route = WireRoute(.of(.admin, "schema/reset"), for: .admin, .repeatable)

    /// Where it is to go on.
    package struct Request: Sendable, Hashable {
        /// The marker of the answer before, which had not removed all; nil begins.
        package var continuationMarker: String?

        /// Reads the request.
        package init(from reader: inout JSONReader) throws {
            try reader.readObject { reader, member in
                guard try member == "continuationMarker" && !reader.readNull() else {
                    return try reader.skipValue()
                }
                continuationMarker = try reader.readString()
            }
        }
    }

    /// What was done.
    package struct Response: Sendable, Hashable {
        /// What changed in the schema, a line each.
        package var changes: [String]
        /// Subscriptions that fire no more for what changes, a sentence each.
        package var warnings: [String]
        /// How many custom zones were deleted.
        package var zones: Int
        /// How many records went, those of deleted zones too.
        package var records: Int
        /// Where the next request is to go on; nil where nothing is left.
        package var continuationMarker: String?

        /// Creates an answer.
        package init(
            changes: [String], warnings: [String] = [], zones: Int, records: Int,
            continuationMarker: String? = nil
        ) {
            self.changes = changes
            self.warnings = warnings
            self.zones = zones
            self.records = records
            self.continuationMarker = continuationMarker
        }

        /// Writes the answer.
        package func write(to writer: inout JSONWriter) {
            writer.object { writer in
                writer.key("changes")
                writer.array(changes) { $0.string($1) }
                if !warnings.isEmpty {
                    writer.key("warnings")
                    writer.array(warnings) { $0.string($1) }
                }
                writer.member("zones", Int64(zones))
                writer.member("records", Int64(records))
                if let continuationMarker {
                    writer.member("continuationMarker", continuationMarker)
                }
            }
        }
    }
}

/// `schema/index`, for the operator: adds indexes to a field of development's schema.
package enum IndexField: WireEndpoint {
    package typealias Response = SchemaChangesResponse
    package static let route = WireRoute(.of(.admin, "schema/index"), for: .admin, .repeatable)

    /// The field and its indexes.
    package struct Request: Sendable, Hashable {
        package var recordType = ""
        package var fieldName = ""
        /// Words of the schema language: QUERYABLE, SORTABLE, SEARCHABLE.
        package var indexes: [String] = []

        /// Reads the request.
        package init(from reader: inout JSONReader) throws {
            try reader.readObject { reader, member in
                guard try !reader.readNull() else { return }
                switch member {
                case "recordType": recordType = try reader.readString()
                case "fieldName": fieldName = try reader.readString()
                case "indexes": try reader.readArray { indexes.append(try $0.readString()) }
                default: try reader.skipValue()
                }
            }
        }
    }
}

/// `schema/diff`, for the operator: what a deployment would do.
package enum DiffSchema: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = SchemaChangesResponse
    package static let route = WireRoute(
        .of(.admin, "schema/diff"), by: .getOrPost, for: .admin, .reads)
}

/// `schema/check`, for the operator: what development used and production, or the schema of a file,
/// lacks.
package enum CheckSchema: WireEndpoint {
    /// A request without a schema is about production's.
    package typealias Request = SchemaFileRequest
    package static let route = WireRoute(.of(.admin, "schema/check"), for: .admin, .reads)

    /// What is missing, a sentence each.
    package struct Response: Sendable, Hashable {
        package var missing: [String]

        /// Creates an answer.
        package init(missing: [String]) { self.missing = missing }

        /// Writes the answer.
        package func write(to writer: inout JSONWriter) {
            writer.object { writer in
                writer.key("missing")
                writer.array(missing) { $0.string($1) }
            }
        }
    }
}

/// `schema/deploy`, for the operator: gives production what development's schema has (ENV-2).
package enum DeploySchema: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = SchemaChangesResponse
    package static let route = WireRoute(.of(.admin, "schema/deploy"), for: .admin, .repeatable)
}

/// `schema/history`, for the operator: who deployed what to production, and when.
package enum ListDeployments: WireEndpoint {
    package typealias Request = EmptyBody
    package static let route = WireRoute(
        .of(.admin, "schema/history"), by: .getOrPost, for: .admin, .reads)

    /// The deployments, newest first.
    package struct Response: Sendable, Hashable {
        package var deployments: [SchemaDeployment]

        /// Creates an answer.
        package init(deployments: [SchemaDeployment]) {
            self.deployments = deployments
        }

        /// Writes the answer.
        package func write(to writer: inout JSONWriter) {
            writer.object { writer in
                writer.key("deployments")
                writer.array(deployments) { $1.write(to: &$0) }
            }
        }
    }
}

/// A deployment that was done: what production got, when and from whom.
package struct SchemaDeployment: Sendable, Hashable {
    /// 1 is the first of the container.
    package var number: Int64
    /// Milliseconds since 1970.
    package var deployedAt: Int64
    /// Who did it: an account of the machine, or the name of a management token.
    package var author: String
    /// What changed, a line each.
    package var changes: [String]

    /// Creates a deployment.
    package init(number: Int64, deployedAt: Int64, author: String, changes: [String]) {
        self.number = number
        self.deployedAt = deployedAt
        self.author = author
        self.changes = changes
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("number", number)
            writer.member("deployedAt", deployedAt)
            writer.member("author", author)
            writer.key("changes")
            writer.array(changes) { $0.string($1) }
        }
    }
}

/// A file in the CloudKit Schema Language (web-services 7).
package struct SchemaFileRequest: Sendable, Hashable {
    package var schema = ""

    /// Reads the request.
    package init(from reader: inout JSONReader) throws {
        try reader.readObject { reader, member in
            guard try member == "schema" && !reader.readNull() else {
                return try reader.skipValue()
            }
            schema = try reader.readString()
        }
    }
}

/// What changes in a schema, a line each.
package struct SchemaChangesResponse: Sendable, Hashable {
    package var changes: [String]
    /// What a deployment cannot have, a clause each.
    package var refused: [String]
    /// What production alone has, and keeps.
    package var kept: [String]
    /// Subscriptions that fire no more for what changes, or that production would refuse, and fields of
    /// private records that could not be saved there, a sentence each.
    package var warnings: [String]
    /// The number under which a deployment stands in the history.
    package var number: Int64?

    /// Creates an answer.
    package init(
        changes: [String], refused: [String] = [], kept: [String] = [],
        warnings: [String] = [], number: Int64? = nil
    ) {
        self.changes = changes
        self.refused = refused
        self.kept = kept
        self.warnings = warnings
        self.number = number
    }

    /// Writes the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("changes")
            writer.array(changes) { $0.string($1) }
            writer.key("refused")
            writer.array(refused) { $0.string($1) }
            writer.key("kept")
            writer.array(kept) { $0.string($1) }
            if !warnings.isEmpty {
                writer.key("warnings")
                writer.array(warnings) { $0.string($1) }
            }
            if let number { writer.member("number", number) }
        }
    }
}
