// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL
import TidebellWire

// What every cell has a copy of (``CatalogueCopies``).
extension CellTransaction {
    // MARK: Schema

    func addRecordTypes(_ types: [String: StoredRecordType], in container: ContainerKey)
        throws
    {
        uncopied.schemas.insert(container)
        try write(in: .directory) { try $0.addRecordTypes(types, in: container) }
    }

    func replaceSchema(with schema: SchemaDefinition, in container: ContainerKey) throws {
        uncopied.schemas.insert(container)
        try write(in: .directory) { try $0.replaceSchema(with: schema, in: container) }
    }

    /// Brings another cell a schema that the directory has committed, where its own is another.
    func copySchema(of container: ContainerKey, to cell: CellNumber) throws {
        let revision = try own.schemaRevision(of: container)
        guard try reader(in: cell).schemaRevision(of: container) != revision else { return }
        try write(in: cell) { other in
            guard let source = own.connection as? StoreConnection,
                let target = other.connection as? StoreConnection
            else { preconditionFailure("cells are databases of PostgreSQL") }
            try CatalogueCopies.copySchema(
                of: container, from: source.connection, to: target.connection)
        }
    }

    /// The same as in any reader. Whoever changes it where it differs, and finds no difference, has the copies looked at: one
    /// may not have been made.
    func schemaDefinition(of container: ContainerKey) throws -> SchemaDefinition {
        if scope == .catalogue(container) { uncopied.schemas.insert(container) }
        return try directory.schemaDefinition(of: container)
    }

    // MARK: Token

    func putToken(_ token: StoredToken, _ kind: TokenKind) throws {
        try write(kind) { try $0.putToken(token, kind) }
    }

    /// It is good in no cell any more, or this fails.
    func removeToken(hash: [UInt8], _ kind: TokenKind) throws {
        try write(kind) { try $0.removeToken(hash: hash, kind) }
    }

    /// Nobody shows a management token often: the directory alone has those.
    private func write(_ kind: TokenKind, _ body: (SQLTransaction) throws -> Void) throws {
        switch kind {
        case .api: _ = try writeEverywhere(body)
        case .management: try write(in: .directory, body)
        }
    }

    // MARK: Webhook

    func createWebhook(
        for container: ContainerKey, url: String, secret: [UInt8], at now: Instant
    ) throws -> StoredWebhook {
        let made = try write(in: .directory) {
            try $0.createWebhook(for: container, url: url, secret: secret, at: now)
        }
        for cell in cells.numbers where cell != home {
            try write(in: cell) { try $0.putWebhookCopy(made) }
        }
        return made
    }

    func removeWebhook(_ id: WebhookID) throws -> Bool {
        for cell in cells.numbers where cell != home {
            try write(in: cell) { _ = try $0.removeWebhook(id) }
        }
        return try own.removeWebhook(id)
    }
}
