// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellWire

/// Reads on a connection that sends statements and does not wait for their rows
/// (``ReadingAhead/readAhead(_:)``): of what stands in the rows that others depend on, it returns what the
/// transaction knows, or what was so when this process read it last.
package struct AheadReader: SQLReading {
    package let connection: any SQLConnection

    /// Wraps a connection on which statements return no rows.
    package init(_ connection: any SQLConnection) { self.connection = connection }

    package func database(_ key: DatabaseKey) throws -> StoredDatabase? {
        if let known = connection.memory?.content.databases[key] { return known }
        _ = try ahead.database(key)
        return connection.guesses?.database(key)
    }

    package func zones(_ names: Set<String>?, in database: DatabaseID) throws -> [StoredZone] {
        if let only = names?.first, names?.count == 1, let memory = connection.memory {
            let place = GroupMemory.ZonePlace(database: database, name: ExactText(only))
            if let known = memory.content.zones[place] { return [known] }
        }
        _ = try ahead.zones(names, in: database)
        return names.flatMap { connection.guesses?.zones($0, in: database) } ?? []
    }

    package func schemaRevision(of container: ContainerKey) throws -> SchemaRevision {
        if let known = connection.memory?.content.revisions[container] { return known }
        let none = try ahead.schemaRevision(of: container)
        return connection.guesses?.revision(of: container) ?? none
    }

    package func webToken(hash: WebTokenHash) throws -> StoredWebToken? {
        if let known = connection.memory?.content.webTokens[hash] { return known }
        _ = try ahead.webToken(hash: hash)
        return connection.guesses?.webToken(hash: hash)
    }

    package func privateUse(of account: AccountID) throws -> StorageUse {
        if let known = connection.memory?.content.uses[account] { return known.use }
        guard connection.memory != nil else { return try ahead.privateUse(of: account) }
        _ = try ahead.uses(of: account)
        return .zero
    }

    package func keptAnswer(to write: WriteID) throws -> KeptAnswer? {
        _ = try ahead.keptAnswer(to: write)
        // What keeps the answer needs to know how much there is.
        try connection.run(KeptAnswer.storedSize, write.user)
        return nil
    }

    /// Reads without what is known.
    private var ahead: SQLReader { SQLReader(connection, .short) }
}
