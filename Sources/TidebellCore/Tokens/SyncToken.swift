// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// A point in the history of a database or zone (TOK-1), or of a user's
/// notifications, with all that is needed
/// to refuse it elsewhere without a look-up: TOK-3.
///
/// Clients see 51 characters of base64url, and 62 once the store has come back from an
/// older moment.
struct SyncToken: Sendable, Hashable {
    /// What the token is a point of; families are not interchangeable (TOK-2).
    enum Family: UInt8, Sendable {
        case database = 1
        case zone = 2
        /// A zone read newest first.
        case zoneReverse = 3
        /// A user's notifications; its position is one of the log (NOTIF-11).
        case notifications = 4
    }

    var family: Family
    /// The life of the store that issued the token.
    var incarnation = Incarnation.first
    /// The database that the point is in, by a hash (``Call/hash(of:)``): that of the zone
    /// itself, from whichever database of whomever it was reached.
    var database: UInt64
    /// The zone's incarnation; 0 in a database token.
    var zone: ZoneKey
    /// All changes up to here were delivered.
    var position: Position
    /// Where the history ended when a fetch without a token began: deletions up
    /// to here are not news to that client (TOK-6).
    var baseline: Position

    /// The token as clients store it.
    var text: String {
        let isFirstLife = incarnation == .first
        var bytes = [isFirstLife ? Self.plainVersion : Self.version, family.rawValue]
        var values = [zone.rawValue, position.rawValue, baseline.rawValue]
        if !isFirstLife { values.append(incarnation.rawValue) }
        for value in [database] + values.map(UInt64.init(bitPattern:)) {
            withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
        }
        withUnsafeBytes(of: Self.checksum(bytes).bigEndian) { bytes.append(contentsOf: $0) }
        return Base64URL.commonText(bytes)
    }

    /// A token of a store's first life, which it does not name.
    private static let plainVersion: UInt8 = 1
    /// A token that names which life of the store issued it.
    private static let version: UInt8 = 2

    /// The bytes of a token of this version; nil for one this server does not know.
    private static func byteCount(ofVersion version: UInt8?) -> Int? {
        switch version {
        case plainVersion: 2 + 4 * 8 + 4
        case Self.version: 2 + 5 * 8 + 4
        default: nil
        }
    }

    /// Guards against damage, not against forgery: a token grants nothing.
    private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var hash = StableHash()
        hash.combine(bytes)
        return UInt32(truncatingIfNeeded: hash.value ^ hash.value >> 32)
    }
}

extension SyncToken {
    /// Reads a token's text; nil for what this server never issued.
    init?(text: String) {
        guard let bytes = Base64URL.bytes(ofEither: text),
            bytes.count == Self.byteCount(ofVersion: bytes.first)
        else { return nil }
        let end = bytes.count - 4
        func value<Value: FixedWidthInteger>(at offset: Int, as: Value.Type) -> Value {
            bytes[offset..<offset + MemoryLayout<Value>.size].reduce(0) { $0 << 8 | Value($1) }
        }
        guard let family = Family(rawValue: bytes[1]),
            value(at: end, as: UInt32.self) == Self.checksum(bytes.prefix(end))
        else { return nil }
        func signed(at offset: Int) -> Int64 {
            Int64(bitPattern: value(at: offset, as: UInt64.self))
        }
        self.init(
            family: family,
            incarnation: bytes[0] == Self.version ? Incarnation(rawValue: signed(at: 34)) : .first,
            database: value(at: 2, as: UInt64.self),
            zone: ZoneKey(rawValue: signed(at: 10)), position: Position(rawValue: signed(at: 18)),
            baseline: Position(rawValue: signed(at: 26))
        )
    }
}

/// FNV-1a: the same on every machine and in every process, unlike `Hasher`.
struct StableHash {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func combine(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    }

    mutating func combine(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { combine($0) }
    }
}

extension Call {
    /// The hash by which tokens know a database: of the store, container, environment,
    /// scope and owner. Devices keep tokens for as long as they like, so it stays as it is.
    func hash(of database: DatabaseKey) -> UInt64 {
        var hash = StableHash()
        hash.combine(storeIdentity)
        hash.combine(UInt64(bitPattern: database.owner?.rawValue ?? 0))
        let container = database.container
        // Piece by piece: a string of them would look the names of the cases up by reflection.
        hash.combine(container.environment.rawValue.utf8)
        hash.combine("/".utf8)
        hash.combine(database.scope.rawValue.utf8)
        hash.combine("/".utf8)
        hash.combine(container.container.utf8)
        return hash.value
    }

    /// Reads a token that must be of `database` and of `family`; nil text gives nil.
    ///
    /// - Parameter name: The request's word for it.
    func syncToken(
        _ text: String?, family: SyncToken.Family, of database: DatabaseKey,
        named name: String = "syncToken"
    ) throws -> SyncToken? {
        guard let text else { return nil }
        guard let token = SyncToken(text: text) else {
            throw WireError.changeTokenExpired("the \(name) was not issued by this server")
        }
        guard token.family == family else {
            throw WireError.changeTokenExpired(
                "the \(name) is a \(token.family) token where a \(family) token is needed"
            )
        }
        guard token.database == hash(of: database) else {
            throw WireError.changeTokenExpired("the \(name) belongs to another database")
        }
        guard token.incarnation == storeIncarnation else {
            throw WireError.changeTokenExpired(
                "the \(name) is of a life of this server that was lost: the server was restored "
                    + "from an older moment"
            )
        }
        return token
    }

    /// Makes a token of a database, or of a zone in it.
    func makeToken(
        _ family: SyncToken.Family, of zone: ZoneKey = ZoneKey(rawValue: 0),
        in database: DatabaseKey, at position: Position, baseline: Position
    ) -> SyncToken {
        SyncToken(
            family: family, incarnation: storeIncarnation, database: hash(of: database),
            zone: zone, position: position, baseline: baseline
        )
    }
}
