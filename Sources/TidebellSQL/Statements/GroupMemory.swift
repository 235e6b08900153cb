// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellWire

/// What the writes of one transaction have read of the rows that each of them asks for: who sends it,
/// its database, its zone, the revision of its schema, what the databases of its account hold. Of saves
/// that share a commit most have all of these in common.
///
/// Guarantee: what is here is what the transaction would read now. It begins empty with the
/// transaction and ends with it; it forgets everything where a savepoint is undone, and at each
/// statement that may write, but for those in ``Connection/remembering(_:)``, which write other
/// tables or tell it what they write.
package final class GroupMemory {
    /// Begins empty.
    package init() {}

    /// A zone as calls name it.
    struct ZonePlace: Hashable {
        var database: DatabaseID
        /// As tables have it: Swift takes the KELVIN SIGN for a K.
        var name: ExactText
    }

    /// The private databases of an account, and what they hold.
    struct AccountUse {
        var databases: Set<DatabaseID>
        var use: StorageUse
    }

    /// What is remembered; rows that are not there never are.
    struct Content {
        var databases: [DatabaseKey: StoredDatabase] = [:]
        var databaseKeys: [DatabaseID: DatabaseKey] = [:]
        var zones: [ZonePlace: StoredZone] = [:]
        var zonePlaces: [ZoneKey: ZonePlace] = [:]
        var revisions: [ContainerKey: SchemaRevision] = [:]
        var webTokens: [WebTokenHash: StoredWebToken] = [:]
        var uses: [AccountID: AccountUse] = [:]
    }

    var content = Content()
    /// How often it was forgotten what was read before now.
    package private(set) var era = 0

    /// Lets go of everything, which is read again where it is asked for.
    package func forget() {
        era += 1
        content = Content()
    }

    /// The same where the transaction writes: of what was read, only that may have changed which it writes.
    package func forgetAtWrite() { content = Content() }

    func remember(_ database: StoredDatabase) {
        content.databases[database.key] = database
        content.databaseKeys[database.id] = database.key
    }

    func remember(_ zone: StoredZone) {
        let place = ZonePlace(database: zone.database, name: ExactText(zone.name))
        content.zones[place] = zone
        content.zonePlaces[zone.key] = place
    }

    /// Where the history of a database ends; nil where that is not known.
    func head(of database: DatabaseID) -> Position? {
        content.databaseKeys[database].flatMap { content.databases[$0]?.head }
    }

    /// Notes that the history of a database was continued.
    func noteAdvance(of database: DatabaseID, to head: Position, adding change: StorageUse) {
        if let key = content.databaseKeys[database], var known = content.databases[key] {
            known.head = head
            known.use = known.use + change
            content.databases[key] = known
        }
        for (account, known) in content.uses where known.databases.contains(database) {
            content.uses[account]?.use = known.use + change
        }
    }

    /// Notes that a zone changed.
    func noteTouch(of zone: ZoneKey, at position: Position, clientChangeToken: [UInt8]?) {
        guard let place = content.zonePlaces[zone] else { return }
        content.zones[place]?.position = position
        if let clientChangeToken { content.zones[place]?.clientChangeToken = clientChangeToken }
    }
}

// What a transaction reads by its connection's memory, where that has one.
extension SQLTransaction {
    package func database(_ key: DatabaseKey) throws -> StoredDatabase? {
        if let known = connection.memory?.content.databases[key] { return known }
        let found = try stored.database(key)
        if let found { connection.memory?.remember(found) }
        return found
    }

    package func zones(_ names: Set<String>?, in database: DatabaseID) throws -> [StoredZone] {
        guard let only = names?.first, names?.count == 1, let memory = connection.memory else {
            return try stored.zones(names, in: database)
        }
        let place = GroupMemory.ZonePlace(database: database, name: ExactText(only))
        if let known = memory.content.zones[place] { return [known] }
        let found = try stored.zones(names, in: database)
        if let zone = found.first { memory.remember(zone) }
        return found
    }

    package func schemaRevision(of container: ContainerKey) throws -> SchemaRevision {
        if let known = connection.memory?.content.revisions[container] { return known }
        let found = try stored.schemaRevision(of: container)
        connection.memory?.content.revisions[container] = found
        return found
    }

    package func webToken(hash: WebTokenHash) throws -> StoredWebToken? {
        if let known = connection.memory?.content.webTokens[hash] { return known }
        let found = try stored.webToken(hash: hash)
        if let found { connection.memory?.content.webTokens[hash] = found }
        return found
    }

    package func privateUse(of account: AccountID) throws -> StorageUse {
        guard let memory = connection.memory else { return try stored.privateUse(of: account) }
        if let known = memory.content.uses[account] { return known.use }
        let uses = try stored.uses(of: account)
        let use = uses.values.reduce(.zero, +)
        memory.content.uses[account] = GroupMemory.AccountUse(databases: Set(uses.keys), use: use)
        return use
    }

    /// Reads without the memory.
    private var stored: SQLReader { SQLReader(connection, .short) }
}
