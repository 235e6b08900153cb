// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `/admin/1/{container}/{environment}/keys/add`: what `tidebell server-key add` does.
extension AddServerKey: AdminEndpoint {
    /// The most days that a key can be made for: ten years.
    private static let mostDays = 3650

    /// Answers with the new key.
    package static func respond(
        to target: RequestTarget, _ body: [UInt8], of container: ContainerKey, in cloud: Cloud
    ) async throws -> WebResponse {
        let request = try JSONReader.read(body, Request.init(from:))
        if let days = request.days, !(1...mostDays).contains(days) {
            throw WireError.badRequest("days must be 1 to \(mostDays)")
        }
        let now = cloud.time.now()
        let hash = Secret.hash(Secret.make(from: cloud.randomness))
        let key = try await cloud.store.write(.account(nil)) {
            try run(
                request.publicKey, named: request.name, for: container, tokenHash: hash,
                lifetime: request.days.map { .seconds($0 * 86400) }, at: now, in: $0)
        }
        return .keys([key.id], try await ListServerKeys.items(of: container, in: cloud))
    }
}

/// `/admin/1/{container}/{environment}/keys/list`: the keys of the container.
extension ListServerKeys: AdminEndpoint {
    /// Answers with the keys, oldest first.
    package static func respond(
        to target: RequestTarget, _ body: [UInt8], of container: ContainerKey, in cloud: Cloud
    ) async throws -> WebResponse {
        .keys(nil, try await items(of: container, in: cloud))
    }

    fileprivate static func items(
        of container: ContainerKey, in cloud: Cloud
    ) async throws -> [Item] {
        try await cloud.store.read { try run(for: container, in: $0) }
    }
}

/// `/admin/1/{container}/{environment}/keys/revoke`: what `tidebell server-key revoke` does, for a
/// key of the container.
extension RevokeServerKey: AdminEndpoint {
    /// Answers with the key that ended.
    package static func respond(
        to target: RequestTarget, _ body: [UInt8], of container: ContainerKey, in cloud: Cloud
    ) async throws -> WebResponse {
        let request = try JSONReader.read(body, Request.init(from:))
        let now = cloud.time.now()
        let key = try await cloud.store.write(.everything) {
            try run(request.keyID, in: container, at: now, in: $0)
        }
        let response = ServerKeysResponse(keys: [
            .init(id: key.id, name: key.name, createdAt: key.createdAt.rawValue)
        ])
        return .json { response.write(to: &$0) }
    }
}

extension WebResponse {
    /// Returns the answer about some of the keys; nil is all.
    fileprivate static func keys(_ ids: Set<String>?, _ items: [ListServerKeys.Item]) -> WebResponse
    {
        let response = ServerKeysResponse(
            keys: items.filter { ids?.contains($0.key.id) ?? true }.map {
                .init(
                    id: $0.key.id, name: $0.key.name, createdAt: $0.key.createdAt.rawValue,
                    usedAt: $0.usedAt?.rawValue, expiresAt: $0.expiresAt?.rawValue)
            })
        return .json { response.write(to: &$0) }
    }
}
