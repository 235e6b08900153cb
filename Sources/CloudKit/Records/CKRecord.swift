// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A set of key-value pairs that is saved in a database.
///
/// Values are copied when they are set, and are read as Foundation objects. Records compare by
/// identity, as with Apple's class. A record may be used from several threads; each call is atomic.
///
/// ```swift
/// let recordID = CKRecord.ID(recordName: "115", zoneID: zoneID)  // without it, a new UUID
/// let artist = CKRecord(recordType: "Artist", recordID: recordID)
/// artist["name"] = "Mei Chen"
/// artist["born"] = Date(timeIntervalSince1970: 0)
/// artist["portrait"] = CKAsset(fileURL: picture)
/// artist["teacher"] = CKRecord.Reference(recordID: teacherID, action: .none)
/// let saved = try await database.save(artist)  // has the change tag that the next save needs
/// let name = saved["name"] as? String
/// ```
///
/// If another device saved the record in the meantime, the save fails with `serverRecordChanged`:
/// merge your changes into the error's `serverRecord`, which has the newer change tag, and save
/// that record.
/// See <https://developer.apple.com/documentation/cloudkit/ckrecord>.
open class CKRecord: NSObject, NSSecureCoding, NSCopying, CKRecordKeyValueSetting, Sequence,
    @unchecked Sendable
{
    // Sendable: type and ID are set by initializers only, the rest is behind a lock.
    private var identity: Identity
    let state: Locked<State>

    /// The name and the value of a field.
    public typealias Element = (CKRecord.FieldKey, any CKRecordValueProtocol)

    /// Iterates over the fields of a record.
    public typealias Iterator = CKRecordKeyValueIterator

    /// Creates a record that does not exist on the server yet.
    ///
    /// - Parameters:
    ///   - recordType: A letter, then letters, digits and underscores (REC-2). The
    ///     server checks all but that it is not empty.
    ///   - recordID: The ID; a new UUID in the default zone when left out (REC-7).
    /// - Precondition: `recordType` is not empty.
    // Designated, so that subclasses outside the module inherit every initializer.
    public init(recordType: CKRecord.RecordType, recordID: CKRecord.ID = CKRecord.ID()) {
        precondition(!recordType.isEmpty, "The type of a record must not be empty.")
        identity = Identity(recordType: recordType, recordID: recordID)
        state = Locked(State())
        super.init()
    }

    /// Creates a record with a new UUID in a zone.
    @available(*, deprecated, renamed: "init(recordType:recordID:)")
    public convenience init(recordType: CKRecord.RecordType, zoneID: CKRecordZone.ID) {
        self.init(recordType: recordType, recordID: CKRecord.ID(zoneID: zoneID))
    }

    /// Creates a record of the given state; nothing is checked.
    convenience init(_ identity: Identity, state: State) {
        self.init(recordType: "Unchecked", recordID: identity.recordID)
        self.identity = identity
        self.state.current = state
    }

    /// Reads a record, or only its system fields, from an archive; nil when it is damaged.
    ///
    /// A record read from system fields has no values and no changed keys (REC-9).
    /// Reads archives of Apple's systems too.
    public required init?(coder: NSCoder) {
        guard let values = ArchivedValues(coder: coder) else { return nil }
        identity = values.identity
        state = Locked(values.state)
        super.init()
    }

    /// Always true: records support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the record with all values to a keyed archive.
    open func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(archivedValues)
    }

    /// The record with its values, as archives hold it.
    var archivedValues: ArchivedValues {
        ArchivedValues(identity: identity, state: state.current)
    }

    /// Writes only the system fields to a keyed archive: ID, type, change tag, dates, users, parent
    /// and share (REC-9).
    ///
    /// Store them with your own copy of the values; `init(coder:)` makes a record from them that
    /// can be saved without a conflict.
    open func encodeSystemFields(with coder: NSCoder) {
        coder.encodeArchiveBlob(SystemFields(identity: identity, state: state.current))
    }

    /// The kind of the record.
    open var recordType: CKRecord.RecordType { identity.recordType }

    /// The identity of the record.
    open var recordID: CKRecord.ID { identity.recordID }

    /// The version of the record that the server last returned; it changes with every save
    /// (SAVE-4).
    open var recordChangeTag: String? { serverState.recordChangeTag }

    /// The ID of the user who created the record.
    open var creatorUserRecordID: CKRecord.ID? { serverState.creatorUserRecordID }

    /// The time the server first saved the record.
    open var creationDate: Date? { serverState.creationDate }

    /// The ID of the user who last changed the record.
    open var lastModifiedUserRecordID: CKRecord.ID? { serverState.lastModifiedUserRecordID }

    /// The time the server last saved the record.
    open var modificationDate: Date? { serverState.modificationDate }

    /// Returns the value of a field; nil when it has none.
    open func object(forKey key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? {
        value(ofField: key, isEncrypted: false)?.object
    }

    /// Sets the value of a field; nil removes it (SAVE-12).
    ///
    /// - Precondition: The key is not empty and the value of a type CloudKit supports (REC-4).
    open func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: CKRecord.FieldKey) {
        setField(object, forKey: key, isEncrypted: false)
    }

    /// The value of a field; setting nil removes it.
    @_disfavoredOverload
    open subscript(key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? {
        get { object(forKey: key) }
        set { setObject(newValue, forKey: key) }
    }

    /// Returns the names of the fields that have a value, in ascending order (REC-8).
    open func allKeys() -> [CKRecord.FieldKey] {
        state.withLock { $0.plain.values.keys.sorted() }
    }

    /// Returns the words of all string fields, each once, in the order of the fields (REC-8).
    open func allTokens() -> [String] {
        RecordTokens.tokens(of: state.withLock { $0.plain.values })
    }

    /// Returns the names of the fields that were set or removed since the last fetch or save
    /// (REC-8).
    open func changedKeys() -> [CKRecord.FieldKey] {
        state.withLock { $0.plain.changedKeys.sorted() }
    }

    /// The fields that the server stores encrypted (REC-11).
    ///
    /// They are encrypted on the server and not on the device: the operator of the server can read
    /// them.
    open var encryptedValues: any CKRecordKeyValueSetting & Sendable {
        EncryptedRecordValues(of: self)
    }

    /// The share the record is the root of.
    open var share: CKRecord.Reference? { state.current.share }

    /// The record above this one in a shared hierarchy (REF-7).
    ///
    /// - Precondition: The action of the reference is `none` (REF-6).
    open var parent: CKRecord.Reference? {
        get { state.current.parent }
        set { setParentReference(newValue) }
    }

    /// Makes `parentRecord` the record above this one.
    open func setParent(_ parentRecord: CKRecord?) {
        setParentReference(parentRecord.map { CKReference(record: $0, action: .none) })
    }

    /// Makes the record of `parentRecordID` the record above this one.
    open func setParent(_ parentRecordID: CKRecord.ID?) {
        setParentReference(parentRecordID.map { CKReference(recordID: $0, action: .none) })
    }

    /// Returns an iterator over names and values, in ascending order of the names.
    open func makeIterator() -> CKRecordKeyValueIterator {
        CKRecordKeyValueIterator(state.withLock { $0.plain.values })
    }

    /// Returns a record with the same identity, values and changes.
    open func copy(with zone: NSZone? = nil) -> Any {
        CKRecord(identity, state: state.current)
    }

    /// Type, ID and tag as text, for logs and debuggers; no values.
    open override var description: String {
        "<CKRecord: recordType=\(recordType), recordID=\(recordID), "
            + "recordChangeTag=\(recordChangeTag ?? "nil")>"
    }
}

extension CKRecord {
    /// What a record is: fixed for its life.
    struct Identity: Sendable, Hashable {
        /// The kind of the record.
        var recordType: CKRecord.RecordType

        /// The ID of the record.
        var recordID: CKRecordID
    }

    private func setParentReference(_ reference: CKReference?) {
        precondition(
            reference == nil || reference?.action == CKRecord.ReferenceAction.none,
            "The reference to the parent of a record must have the action 'none'."
        )
        state.withLock { state in
            if !state.isParentChanged, state.parent != reference {
                (state.isParentChanged, state.originalParent) = (true, state.parent)
            }
            state.parent = reference
        }
    }
}
