// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire
import TidebellPush

/// `/admin/1/{container}/{environment}/push/explain`: what became of changes on
/// their way to pushes, and why; what `tidebell push explain --json` prints.
///
/// Query parameters, all optional: `record`, `recordType`, `zone`, `database`
/// (`public`, `private` or `shared`), `user` (an account's name), `subscription`,
/// `notification`, and `last`, how many changes (1 to 100, usually 3).
extension ExplainPush: AdminEndpoint {
    package static func respond(
        to target: RequestTarget, _ body: [UInt8], of container: ContainerKey, in cloud: Cloud
    ) async throws -> WebResponse {
        let query = try query(target, of: container)
        // What the routes did a moment ago is part of the answer.
        try await cloud.journal.flush()
        let explanation = try await cloud.store.read { reader in
            try PushExplanation.explain(query, in: reader)
        }
        return .json(capacity: 4096) { explanation.write(to: &$0) }
    }

    private static func query(
        _ target: RequestTarget, of container: ContainerKey
    ) throws -> PushExplanation.Query {
        var query = PushExplanation.Query()
        query.container = container.container
        query.environment = container.environment
        query.scope = try target.parameter("database").map { name in
            guard let scope = DatabaseScope(rawValue: name) else {
                throw WireError.badRequest(
                    "unknown database '\(WireError.shortened(name))': "
                        + "expected 'public', 'private' or 'shared'"
                )
            }
            return scope
        }
        query.userName = try target.parameter("user")
        query.zoneName = try target.parameter("zone")
        query.recordName = try target.parameter("record")
        query.recordType = try target.parameter("recordType")
        query.subscriptionID = try target.parameter("subscription")
        query.notificationID = try target.parameter("notification")
        if let text = try target.parameter("last") {
            guard let last = Int(text), (1...PushExplanation.Query.mostChanges).contains(last)
            else {
                throw WireError.badRequest(
                    "last '\(WireError.shortened(text))' must be 1 to "
                        + "\(PushExplanation.Query.mostChanges)"
                )
            }
            query.last = last
        }
        return query
    }
}
