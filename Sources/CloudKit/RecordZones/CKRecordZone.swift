// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// An area of a database that groups records, so that they can be saved, fetched and shared
/// together.
///
/// ```swift
/// let zone = CKRecordZone(zoneName: "Notes")
/// try await database.save(zone)  // succeeds as well where it is there
/// let recordID = CKRecord.ID(recordName: "shopping", zoneID: zone.zoneID)
/// ```
///
/// Compares by identity, as Apple's class does; compare ``zoneID`` instead.
/// See <https://developer.apple.com/documentation/cloudkit/ckrecordzone>.
open class CKRecordZone: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable: `zoneID` is a constant, the rest is behind a lock.
    private let identity: CKRecordZoneID
    private let state: Locked<State>

    /// Returns the default zone of the signed-in user's database (ZONE-1).
    open class func `default`() -> CKRecordZone {
        CKRecordZone(zoneID: .default)
    }

    /// Creates a zone of the signed-in user; it exists on the server after it is saved.
    ///
    /// - Parameter zoneName: ASCII, 1 to 255 characters, not starting with an
    ///   underscore (ZONE-4). The server checks all but the first.
    /// - Precondition: `zoneName` is not empty.
    public init(zoneName: String) {
        identity = CKRecordZoneID(zoneName: zoneName)
        state = Locked(State())
        super.init()
    }

    /// Creates a zone; it exists on the server after it is saved.
    public init(zoneID: CKRecordZone.ID) {
        identity = zoneID
        state = Locked(State())
        super.init()
    }

    /// Creates a zone of the given state.
    init(zoneID: CKRecordZone.ID, state: State) {
        identity = zoneID
        self.state = Locked(state)
        super.init()
    }

    /// Reads a zone from an archive; nil when it is damaged.
    public required init?(coder: NSCoder) {
        guard let values = coder.decodeArchiveBlob(Values.self) else { return nil }
        identity = values.zoneID
        state = Locked(values.state)
        super.init()
    }

    /// Always true: zones support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the zone to a keyed archive.
    open func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(archivedValues)
    }

    /// The identity of the zone.
    open var zoneID: CKRecordZone.ID { identity }

    /// What the zone supports; empty until it is saved or fetched (ZONE-3).
    open var capabilities: CKRecordZone.Capabilities { state.current.capabilities }

    /// The zone-wide share, if the zone was fetched and has one (ZONE-9).
    open var share: CKRecord.Reference? { state.current.share }

    /// Whether records or the zone have the keys of encrypted fields (ZONE-10).
    ///
    /// It cannot be changed after the zone is saved; the server refuses later changes.
    open var encryptionScope: CKRecordZone.EncryptionScope {
        get { state.current.encryptionScope }
        set { state.withLock { $0.encryptionScope = newValue } }
    }

    /// Returns a copy with the same state.
    open func copy(with zone: NSZone? = nil) -> Any {
        CKRecordZone(zoneID: identity, state: state.current)
    }

    /// Name and owner as text, for logs and debuggers.
    open override var description: String {
        "<CKRecordZone: zoneID=\(zoneID), capabilities=\(capabilities.rawValue)>"
    }

    /// What an archive holds of the zone.
    var archivedValues: Values { Values(zoneID: identity, state: state.current) }

    /// Takes over what the server returns about the zone after a save.
    func applyServerState(_ newState: State) {
        state.current = newState
    }
}

extension CKRecordZone {
    /// What a server knows of a zone beside its identity.
    struct State: Sendable, Equatable {
        /// What the zone can do.
        var capabilities: Capabilities = []

        /// The zone-wide share.
        var share: CKReference?

        /// Who holds the keys of encrypted fields.
        var encryptionScope = EncryptionScope.perRecord
    }

    /// The archived state of a zone.
    struct Values: ArchiveValue {
        /// The identity of the zone.
        var zoneID: CKRecordZoneID

        /// What the server knows beside it.
        var state: State

        static var kind: ArchiveKind { .recordZone }
    }
}

extension CKRecordZone.Values {
    init(from reader: inout BlobReader) throws(BlobError) {
        zoneID = try reader.zoneID()
        state = CKRecordZone.State()
        state.capabilities = CKRecordZone.Capabilities(rawValue: UInt(try reader.uint32()))
        state.share = try reader.optional { reader throws(BlobError) in try reader.reference() }
        let scope = CKRecordZone.EncryptionScope(rawValue: Int(try reader.byte()))
        guard let scope else { throw .badValue }
        state.encryptionScope = scope
    }

    func write(to writer: inout BlobWriter) {
        writer.write(zoneID)
        writer.write(UInt32(truncatingIfNeeded: state.capabilities.rawValue))
        writer.write(state.share) { $0.write($1) }
        writer.write(byte: UInt8(truncatingIfNeeded: state.encryptionScope.rawValue))
    }
}
