// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `/admin/1/{container}/{environment}/schema/export`: what `tidebell schema export` does.
extension ExportSchema: AdminEndpoint {
    package static func respond(
        to target: RequestTarget, _ body: [UInt8], of container: ContainerKey, in cloud: Cloud
    ) async throws -> WebResponse {
        let response = Response(
            schema: try await cloud.store.read { try run(container, in: $0) })
        return .json { response.write(to: &$0) }
    }
}

/// `/admin/1/{container}/development/schema/import`: what `tidebell schema import` does.
extension ImportSchema: AdminEndpoint {
    package static var bodyBytes: Int { SchemaFileRequest.mostBodyBytes }

    package static func respond(
        to target: RequestTarget, _ body: [UInt8], of container: ContainerKey, in cloud: Cloud
    ) async throws -> WebResponse {
        try container.require(.development, for: "an import")
        let request = try JSONReader.read(body, Request.init(from:))
        let limits = cloud.limits
        return .changes(
            try await cloud.store.write(.catalogue(container)) {
                try run(request.schema, into: container.container, limits: limits, in: $0)
            })
    }
}

/// `/admin/1/{container}/development/schema/validate`: what `tidebell schema validate` does.
extension ValidateSchema: AdminEndpoint {
    package static var bodyBytes: Int { SchemaFileRequest.mostBodyBytes }

    package static func respond(
        to target: RequestTarget, _ body: [UInt8], of container: ContainerKey, in cloud: Cloud
    ) async throws -> WebResponse {
        try container.require(.development, for: "an import")
        let request = try JSONReader.read(body, Request.init(from:))
        let limits = cloud.limits
        return .changes(
            try await cloud.store.read {
                try run(request.schema, for: container.container, limits: limits, in: $0)
            })
    }
}

/// `/admin/1/{container}/development/schema/reset`: what `tidebell schema reset` does.
extension ResetSchema: AdminEndpoint {
    package static func respond(
        to target: RequestTarget, _ body: [UInt8], of container: ContainerKey, in cloud: Cloud
    ) async throws -> WebResponse {
        try container.require(.development, for: "a reset")
        return .changes(
            try await cloud.store.write(.catalogue(container)) {
                try run(container.container, in: $0)
            })
    }
}

/// `/admin/1/{container}/development/schema/index`: what `tidebell schema index` does.
extension IndexField: AdminEndpoint {
    package static func respond(
        to target: RequestTarget, _ body: [UInt8], of container: ContainerKey, in cloud: Cloud
    ) async throws -> WebResponse {
        try container.require(.development, for: "indexing a field")
        let request = try JSONReader.read(body, Request.init(from:))
        let indexes = try FieldIndexes(words: request.indexes)
        let change = try await cloud.store.write(.catalogue(container)) {
            try run(
                indexes, on: request.fieldName, of: request.recordType, in: container.container,
                in: $0)
        }
        return .changes(change.map { [$0] } ?? [])
    }
}

/// `/admin/1/{container}/{environment}/schema/diff`: what `tidebell schema diff` does.
extension DiffSchema: AdminEndpoint {
    package static func respond(
        to target: RequestTarget, _ body: [UInt8], of container: ContainerKey, in cloud: Cloud
    ) async throws -> WebResponse {
        let plan = try await cloud.store.read { try run(container.container, in: $0) }
        let response = SchemaChangesResponse(
            changes: plan.changes.map(\.line), refused: plan.refused.map(\.refusal),
            kept: plan.kept.map(\.line))
        return .json { response.write(to: &$0) }
    }
}

/// `/admin/1/{container}/{environment}/schema/check`: what `tidebell schema check` does.
extension CheckSchema: AdminEndpoint {
    package static var bodyBytes: Int { SchemaFileRequest.mostBodyBytes }

    package static func respond(
        to target: RequestTarget, _ body: [UInt8], of container: ContainerKey, in cloud: Cloud
    ) async throws -> WebResponse {
        let file = try body.isEmpty ? nil : JSONReader.read(body, Request.init(from:)).schema
        let development = ContainerKey(
            container: container.container, environment: .development)
        let (limits, pending) = (cloud.limits, cloud.queryUses.pending(of: development))
        let missing = try await cloud.store.read {
            try run(
                container.container, against: file, and: pending, limits: limits, in: $0)
        }
        let response = Response(missing: missing.map(\.description))
        return .json { response.write(to: &$0) }
    }
}

/// `/admin/1/{container}/production/schema/deploy`: what `tidebell schema deploy` does.
extension DeploySchema: AdminEndpoint {
    package static func respond(
        to target: RequestTarget, _ body: [UInt8], of container: ContainerKey, in cloud: Cloud
    ) async throws -> WebResponse {
        try await respond(to: target, body, of: container, by: "", in: cloud)
    }

    package static func respond(
        to target: RequestTarget, _ body: [UInt8], of container: ContainerKey, by author: String,
        in cloud: Cloud
    ) async throws -> WebResponse {
        try container.require(.production, for: "a deployment")
        let now = cloud.time.now()
        let outcome = try await cloud.store.write(.catalogue(container)) {
            try run(container.container, by: author, at: now, in: $0)
        }
        let response = SchemaChangesResponse(
            changes: outcome.plan.changes.map(\.line), kept: outcome.plan.kept.map(\.line),
            number: outcome.deployment?.number)
        return .json { response.write(to: &$0) }
    }
}

/// `/admin/1/{container}/{environment}/schema/history`: what `tidebell schema history` does.
extension ListDeployments: AdminEndpoint {
    package static func respond(
        to target: RequestTarget, _ body: [UInt8], of container: ContainerKey, in cloud: Cloud
    ) async throws -> WebResponse {
        let deployments = try await cloud.store.read { try run(container.container, in: $0) }
        let response = Response(
            deployments: deployments.map {
                .init(
                    number: $0.number, deployedAt: $0.deployedAt.rawValue, author: $0.author,
                    changes: $0.changes)
            })
        return .json { response.write(to: &$0) }
    }
}

extension SchemaFileRequest {
    /// The file, in which JSON may write a byte as two, and what is around it.
    fileprivate static let mostBodyBytes = 2 * SchemaParser.mostBytes + 1024
}

extension ContainerKey {
    /// Fails for a path of the other environment: what is asked would be done elsewhere.
    fileprivate func require(_ wanted: CloudEnvironment, for what: String) throws {
        guard environment != wanted else { return }
        throw WireError.badRequest(
            "\(what) is of \(wanted.rawValue): write that in the path instead of "
                + environment.rawValue)
    }
}

extension WebResponse {
    fileprivate static func changes(_ changes: [SchemaChange]) -> WebResponse {
        let response = SchemaChangesResponse(changes: changes.map(\.line))
        return .json { response.write(to: &$0) }
    }
}
