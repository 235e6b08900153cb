// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `/admin/1/{container}/{environment}/query/explain`: what `tidebell query explain --json` prints.
extension ExplainQuery: AdminDocumentEndpoint {
    package static func answer(
        _ request: Request, of container: ContainerKey, by author: String, in cloud: Cloud
    ) async throws -> Response {
        let (now, limits, identity) = (cloud.time.now(), cloud.limits, cloud.store.identity)
        // It may look at as much as a user's query, and waits like one.
        return try await cloud.longReads.run(for: .anonymous(container)) {
            try await cloud.store.read(.long) {
                try run(request, in: container, limits: limits, at: now, of: identity, in: $0)
            }
        }
    }
}

extension ExplainQuery.Request: AdminRequest {}
extension QueryExplanation: AdminAnswer {}
