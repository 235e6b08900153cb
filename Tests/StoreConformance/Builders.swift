// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension ContainerKey {
    static let notes = ContainerKey(
        container: "iCloud.org.example.notes", environment: .development)
    static let released = ContainerKey(
        container: "iCloud.org.example.notes", environment: .production
    )
    static let chess = ContainerKey(
        container: "iCloud.org.example.chess", environment: .development)
}

extension DatabaseKey {
    static let publicNotes = DatabaseKey(container: .notes, scope: .public, owner: nil)

    /// The private database of a user.
    static func privateNotes(_ owner: UserID = .anna) -> DatabaseKey {
        DatabaseKey(container: .notes, scope: .private, owner: owner)
    }
}

extension UserID {
    static let anna = UserID(rawValue: 1)
    static let ben = UserID(rawValue: 2)
}

extension Instant {
    static let noon = Instant(rawValue: 1_800_000_000_000)
}

extension Position: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) {
        self.init(rawValue: value)
    }
}

extension RecordFields {
    /// Fields with one string.
    static func text(_ text: String) -> RecordFields {
        RecordFields(["text": Field(.string(text))])
    }
}

extension StoredRecord {
    /// A note; `modified` also orders tombstones by age.
    static func note(
        _ name: String, at position: Position, text: String = "", modified: Instant = .noon
    ) -> StoredRecord {
        StoredRecord(
            name: name, type: "Note", position: position,
            created: RecordStamp(timestamp: 5, userRecordName: "_anna", deviceID: "phone"),
            modified: RecordStamp(
                timestamp: modified.rawValue, userRecordName: "_ben", deviceID: ""
            ),
            parent: nil, fields: .text(text)
        )
    }

    /// The tombstone of a note.
    static func tombstone(
        _ name: String, at position: Position, modified: Instant = .noon
    ) -> StoredRecord {
        var record = note(name, at: position, modified: modified)
        record.fields = .none
        record.isDeleted = true
        return record
    }
}

extension WireSubscription {
    /// A subscription with what its kind needs.
    static func watching(
        _ kind: Kind, _ id: String, zone: String? = nil, type: String? = nil
    ) -> WireSubscription {
        WireSubscription(
            subscriptionID: id, kind: kind, zoneID: zone.map { ZoneID(zoneName: $0) },
            recordType: type, firesOn: kind == .query ? [.create, .delete] : [],
            firesOnce: kind == .query
        )
    }
}

extension OutboxEntry {
    /// An entry whose zone distinguishes it from others.
    static func change(
        of zone: String, _ event: Event = .zoneCreated, in database: DatabaseID
    ) -> OutboxEntry {
        OutboxEntry(
            database: database, zoneName: zone, zoneOwner: "_anna", event: event,
            originUser: .anna, originClient: "phone", committedAt: .noon
        )
    }
}

extension StoredNotification {
    /// A notification whose ID distinguishes it from others.
    static func push(
        _ id: String, to user: UserID = .anna, subscription: String = "all",
        from origin: String? = "phone", collapse: String? = nil, at moment: Instant = .noon
    ) -> StoredNotification {
        StoredNotification(
            user: user, notificationID: id, database: DatabaseID(rawValue: 1),
            subscriptionID: subscription, originClient: origin, payload: Array("{}".utf8),
            isBackground: collapse != nil, collapseID: collapse.map(CollapseID.init(rawValue:)),
            createdAt: moment
        )
    }
}

extension StoreTransaction {
    /// Takes positions when the clock stands at 1970: the next ones.
    func advance(_ database: DatabaseID, by count: Int) throws -> Position {
        try advance(database, by: count, at: Instant(rawValue: 0))
    }

    /// Creates a zone at the next position of a database.
    func makeZone(_ name: String, in key: DatabaseKey = .privateNotes()) throws -> StoredZone {
        let database = try makeDatabase(key)
        let position = try advance(database.id, by: 1)
        let created = try createZones([(name, position)], in: database.id)
        guard let zone = created.first, created.count == 1 else {
            throw Refused(reason: "createZones returned \(created.count) zones for one")
        }
        return zone
    }

    /// Deletes a zone at the next position of its database.
    func delete(_ zone: StoredZone, at moment: Instant = .noon) throws {
        let position = try advance(zone.database, by: 1)
        try deleteZones([(zone.key, position)], reason: .deleted, at: moment)
    }

    /// Stores subscriptions of a user.
    func subscribe(
        _ user: UserID = .anna, in database: DatabaseID, _ subscriptions: WireSubscription...
    ) throws {
        try putSubscriptions(
            subscriptions.map {
                StoredSubscription(database: database, user: user, subscription: $0)
            }
        )
    }
}

extension StoreReader {
    /// The whole history of a zone, without the pages.
    func history(of zone: ZoneKey) throws -> [StoredRecord] {
        try recordChanges(
            in: zone, after: .start, limit: .max, byteLimit: .max, reverse: false
        ).records
    }
}

extension WebTokenHash {
    /// The hash of a token that the first cell keeps.
    static func inDirectory(_ digest: UInt8...) -> WebTokenHash {
        WebTokenHash(digest: digest, in: .directory)
    }
}
