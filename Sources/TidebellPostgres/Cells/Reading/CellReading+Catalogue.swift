// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL
import TidebellWire

// What every cell has a copy of (``CatalogueCopies``).
extension CellReading {
    // MARK: Schema

    func recordTypes(_ names: Set<String>, in container: ContainerKey) throws -> [String:
        StoredRecordType]
    {
        try catalogue.recordTypes(names, in: container)
    }

    func privateFields(of user: UserID, in types: Set<String>, _ container: ContainerKey)
        throws -> [String: [String: StoredField]]
    {
        try catalogue.privateFields(of: user, in: types, container)
    }

    func schemaRevision(of container: ContainerKey) throws -> SchemaRevision {
        try catalogue.schemaRevision(of: container)
    }

    // MARK: Token

    func token(hash: [UInt8], _ kind: TokenKind) throws -> StoredToken? {
        switch kind {
        case .api: try catalogue.token(hash: hash, kind)
        case .management: try directory.token(hash: hash, kind)
        }
    }
}
