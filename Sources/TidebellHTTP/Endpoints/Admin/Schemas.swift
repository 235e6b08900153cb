// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

// `/admin/1/{container}/{environment}/schema/…`: what the subcommands of `tidebell schema` do.

extension ExportSchema: AdminDocumentEndpoint {
    package static func answer(
        _ request: Request, of container: ContainerKey, by author: String, in cloud: Cloud
    ) async throws -> Response {
        Response(schema: try await cloud.operatedSchemas.export(container))
    }
}

extension ImportSchema: AdminDocumentEndpoint {
    package static var bodyBytes: Int { SchemaFileRequest.mostBodyBytes }
    package static let place: (what: String, environment: CloudEnvironment)? =
        ("an import", .development)

    package static func answer(
        _ request: Request, of container: ContainerKey, by author: String, in cloud: Cloud
    ) async throws -> Response {
        Response(
            try await cloud.operatedSchemas.import(request.schema, into: container.container))
    }
}

extension ValidateSchema: AdminDocumentEndpoint {
    package static var bodyBytes: Int { SchemaFileRequest.mostBodyBytes }
    package static let place: (what: String, environment: CloudEnvironment)? = ImportSchema.place

    package static func answer(
        _ request: Request, of container: ContainerKey, by author: String, in cloud: Cloud
    ) async throws -> Response {
        Response(
            try await cloud.operatedSchemas.validate(request.schema, for: container.container))
    }
}

extension ResetSchema: AdminDocumentEndpoint {
    package static let place: (what: String, environment: CloudEnvironment)? =
        ("a reset", .development)

    /// Does as much as one request may take; the answer's marker asks for the rest.
    package static func answer(
        _ request: Request, of container: ContainerKey, by author: String, in cloud: Cloud
    ) async throws -> Response {
        let last = try request.continuationMarker.map { marker in
            guard let number = Int64(marker), number >= 0 else {
                throw WireError.badRequest(
                    "continuationMarker '\(WireError.shortened(marker))' is of no reset")
            }
            return DatabaseID(rawValue: number)
        }
        let outcome = try await cloud.operatedSchemas.reset(
            container.container, after: last, mostSteps: stepsPerRequest, at: cloud.time.now())
        return Response(
            changes: outcome.changes.map(\.line), warnings: outcome.warnings,
            zones: outcome.zones, records: outcome.records,
            continuationMarker: outcome.next.map { "\($0.rawValue)" })
    }
}

extension IndexField: AdminDocumentEndpoint {
    package static let place: (what: String, environment: CloudEnvironment)? =
        ("indexing a field", .development)

    package static func answer(
        _ request: Request, of container: ContainerKey, by author: String, in cloud: Cloud
    ) async throws -> Response {
        let change = try await cloud.operatedSchemas.index(
            request.fieldName, of: request.recordType, in: container.container,
            by: FieldIndexes(words: request.indexes))
        return Response(changes: change.map { [$0.line] } ?? [])
    }
}

extension DiffSchema: AdminDocumentEndpoint {
    package static func answer(
        _ request: Request, of container: ContainerKey, by author: String, in cloud: Cloud
    ) async throws -> Response {
        Response(try await cloud.operatedSchemas.diff(container.container))
    }
}

extension CheckSchema: AdminDocumentEndpoint {
    package static var bodyBytes: Int { SchemaFileRequest.mostBodyBytes }

    package static func answer(
        _ request: Request, of container: ContainerKey, by author: String, in cloud: Cloud
    ) async throws -> Response {
        let development = ContainerKey(
            container: container.container, environment: .development)
        let missing = try await cloud.operatedSchemas.check(
            container.container, against: request.schema,
            and: cloud.queryUses.pending(of: development))
        return Response(missing: missing.map(\.description))
    }
}

extension DeploySchema: AdminDocumentEndpoint {
    package static let place: (what: String, environment: CloudEnvironment)? =
        ("a deployment", .production)

    package static func answer(
        _ request: Request, of container: ContainerKey, by author: String, in cloud: Cloud
    ) async throws -> Response {
        let outcome = try await cloud.operatedSchemas.deploy(
            container.container, by: author, at: cloud.time.now())
        return Response(outcome.plan, number: outcome.deployment?.number)
    }
}

extension ListDeployments: AdminDocumentEndpoint {
    package static func answer(
        _ request: Request, of container: ContainerKey, by author: String, in cloud: Cloud
    ) async throws -> Response {
        Response(deployments: try await cloud.operatedSchemas.deployments(of: container.container))
    }
}

extension Cloud {
    /// The schemas as the operator sees them.
    fileprivate var operatedSchemas: Schemas { Schemas(store: store, limits: limits) }
}

extension SchemaFileRequest {
    /// The file, in which JSON may write a byte as two, and what is around it.
    fileprivate static let mostBodyBytes = 2 * SchemaParser.mostBytes + 1024
}

extension SchemaChangesResponse {
    fileprivate init(_ outcome: ImportSchema.Outcome) {
        self.init(
            changes: outcome.changes.map(\.line),
            warnings: outcome.warnings)
    }

    fileprivate init(_ plan: SchemaDeploymentPlan, number: Int64? = nil) {
        self.init(
            changes: plan.changes.map(\.line), refused: plan.refused.map(\.refusal),
            kept: plan.kept.map(\.line), warnings: plan.warnings,
            number: number)
    }
}

extension SchemaFileRequest: AdminRequest {}
extension ResetSchema.Request: AdminRequest {}
extension IndexField.Request: AdminRequest {}
extension SchemaChangesResponse: AdminAnswer {}
extension ExportSchema.Response: AdminAnswer {}
extension ResetSchema.Response: AdminAnswer {}
extension CheckSchema.Response: AdminAnswer {}
extension ListDeployments.Response: AdminAnswer {}
