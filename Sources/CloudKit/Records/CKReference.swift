// SPDX-License-Identifier: Apache-2.0
public import Foundation

extension CKRecord {
    /// A link from a field of one record to another record.
    // NB: Foundation on Linux cannot archive nested classes.
    public typealias Reference = CKReference

    /// What happens to a record when the target of its reference is deleted (REF-1).
    public enum ReferenceAction: UInt, Sendable {
        /// Nothing; the reference stays, without a target (REF-3).
        case none = 0
        /// The record is deleted too (REF-2).
        case deleteSelf = 1
    }
}

/// The old name of `CKRecord.ReferenceAction`.
@available(*, deprecated, renamed: "CKRecord.ReferenceAction")
public typealias CKRecord_Reference_Action = CKRecord.ReferenceAction

/// A link from a field of one record to another record of the same zone and database.
/// Known as `CKRecord.Reference`.
///
/// ```swift
/// let item = CKRecord(recordType: "Item", recordID: CKRecord.ID(recordName: "1", zoneID: zoneID))
/// item["list"] = CKRecord.Reference(record: list, action: .deleteSelf)  // deleted with its list
/// try await database.save(item)
///
/// let reference = item["list"] as? CKRecord.Reference
/// let query = CKQuery(
///     recordType: "Item", predicate: NSPredicate(format: "list == %@", list.recordID))
/// let (matchResults, _) = try await database.records(matching: query, inZoneWith: zoneID)
/// ```
///
/// References compare by value.
/// See <https://developer.apple.com/documentation/cloudkit/ckrecord/reference>.
open class CKReference: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable: every stored property of this class is a constant.
    private let values: Values

    /// The old name of `CKRecord.ReferenceAction`.
    @available(*, deprecated, renamed: "CKRecord.ReferenceAction")
    public typealias Action = CKRecord.ReferenceAction

    /// Creates a reference to a record by its ID; the record need not exist yet (REF-5).
    public init(recordID: CKRecord.ID, action: CKRecord.ReferenceAction) {
        values = Values(recordID: recordID, action: action)
        super.init()
    }

    /// Creates a reference to a record.
    public convenience init(record: CKRecord, action: CKRecord.ReferenceAction) {
        self.init(recordID: record.recordID, action: action)
    }

    /// Reads a reference from an archive; nil when it is damaged.
    ///
    /// Reads archives of Apple's systems too.
    public required init?(coder: NSCoder) {
        guard let values = coder.decodeArchiveBlob(Values.self) ?? Values(apple: coder) else {
            return nil
        }
        self.values = values
        super.init()
    }

    /// Always true: references support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the reference to a keyed archive.
    open func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(values)
    }

    /// What happens to the record with the reference when the target is deleted.
    open var action: CKRecord.ReferenceAction { values.action }

    /// The ID of the target.
    open var recordID: CKRecord.ID { values.recordID }

    /// Returns the reference itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares target and action.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKReference else { return false }
        return values == other.values
    }

    /// A hash of target and action.
    open override var hash: Int { values.hashValue }

    /// Target and action as text, for logs and debuggers.
    open override var description: String {
        "<CKReference: recordID=\(recordID), action=\(action)>"
    }
}

extension CKReference {
    /// The archived state of a reference.
    struct Values: Hashable, Sendable, ArchiveValue {
        /// The target.
        var recordID: CKRecordID

        /// What happens when the target is deleted.
        var action: CKRecord.ReferenceAction

        static var kind: ArchiveKind { .reference }
    }
}

extension CKReference.Values {
    init(from reader: inout BlobReader) throws(BlobError) {
        let recordID = try reader.recordID()
        guard let action = CKRecord.ReferenceAction(rawValue: UInt(try reader.byte())) else {
            throw .badValue
        }
        self.init(recordID: recordID, action: action)
    }

    func write(to writer: inout BlobWriter) {
        writer.write(recordID)
        writer.write(byte: UInt8(truncatingIfNeeded: action.rawValue))
    }

    /// Reads what Apple's class writes; nil when the archive holds nothing of it.
    init?(apple coder: NSCoder) {
        guard let recordID = coder.appleObject(CKRecordID.self, forKey: "RecordID") else {
            return nil
        }
        let action = coder.appleInteger(forKey: "ReferenceAction") ?? 0
        self.init(
            recordID: recordID,
            action: action == 1 ? .deleteSelf : .none
        )
    }
}

extension BlobReader {
    /// Reads a reference.
    mutating func reference() throws(BlobError) -> CKReference {
        let values = try CKReference.Values(from: &self)
        return CKReference(recordID: values.recordID, action: values.action)
    }
}

extension BlobWriter {
    /// Writes a reference.
    mutating func write(_ reference: CKReference) {
        CKReference.Values(recordID: reference.recordID, action: reference.action)
            .write(to: &self)
    }
}
