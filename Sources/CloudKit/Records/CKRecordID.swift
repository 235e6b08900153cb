// SPDX-License-Identifier: Apache-2.0
public import Foundation
import TidebellWire

extension CKRecord {
    /// The identity of a record: its name and its zone.
    // NB: Foundation on Linux cannot archive nested classes.
    public typealias ID = CKRecordID
}

/// The identity of a record: its name and its zone. Known as `CKRecord.ID`.
///
/// Compares by value.
/// See <https://developer.apple.com/documentation/cloudkit/ckrecord/id>.
open class CKRecordID: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable: every stored property of this class is a constant.
    private let values: Values

    /// Creates the ID of a record in the default zone.
    ///
    /// - Parameter recordName: ASCII, 1 to 255 characters, not starting with an
    ///   underscore (REC-1). The server checks all but the first.
    /// - Precondition: `recordName` is not empty.
    public convenience init(recordName: String) {
        self.init(recordName: recordName, zoneID: CKRecordZoneID.default)
    }

    /// Creates the ID of a record.
    ///
    /// - Parameters:
    ///   - recordName: ASCII, 1 to 255 characters, not starting with an underscore (REC-1); a new
    ///     UUID when left out (REC-7). The server checks all but the first.
    ///   - zoneID: The zone of the record; the default zone when left out.
    /// - Precondition: `recordName` is not empty.
    public convenience init(
        recordName: String = CKRecordID.freshName(),
        zoneID: CKRecordZone.ID = CKRecordZone.ID.default
    ) {
        precondition(!recordName.isEmpty, "The name of a record must not be empty.")
        self.init(unchecked: recordName, zoneID: zoneID)
    }

    /// Makes a name that no other record has.
    @usableFromInline
    static func freshName() -> String { NewIdentifier.make() }

    /// Creates the ID of a record a server or an archive named; nothing is checked.
    init(unchecked recordName: String, zoneID: CKRecordZoneID) {
        values = Values(recordName: recordName, zoneID: zoneID)
        super.init()
    }

    /// Reads an ID from an archive; nil when it is damaged.
    ///
    /// Reads archives of Apple's systems too.
    public required init?(coder: NSCoder) {
        guard let values = coder.decodeArchiveBlob(Values.self) ?? Values(apple: coder) else {
            return nil
        }
        self.values = values
        super.init()
    }

    /// Always true: IDs support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the ID to a keyed archive.
    open func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(values)
    }

    /// The name of the record, unique in its zone.
    open var recordName: String { values.recordName }

    /// The zone of the record.
    open var zoneID: CKRecordZone.ID { values.zoneID }

    /// Returns the ID itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares name and zone.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKRecordID else { return false }
        return values == other.values
    }

    /// A hash of name and zone.
    open override var hash: Int { values.hashValue }

    /// Name and zone as text, for logs and debuggers.
    open override var description: String {
        "<CKRecordID: recordName=\(recordName), zoneID=\(zoneID)>"
    }
}

extension CKRecordID {
    /// The archived state of a record ID.
    struct Values: Hashable, Sendable, ArchiveValue {
        /// The name of the record.
        var recordName: String

        /// The zone of the record.
        var zoneID: CKRecordZoneID

        static var kind: ArchiveKind { .recordID }
    }
}

extension CKRecordID.Values {
    init(from reader: inout BlobReader) throws(BlobError) {
        self.init(recordName: try reader.string(), zoneID: try reader.zoneID())
    }

    func write(to writer: inout BlobWriter) {
        writer.write(recordName)
        writer.write(zoneID)
    }

    /// Reads what Apple's class writes; nil when the archive holds nothing of it.
    init?(apple coder: NSCoder) {
        guard let recordName = coder.appleString(forKey: "RecordName"),
            let zoneID = coder.appleObject(CKRecordZoneID.self, forKey: "ZoneID")
        else { return nil }
        self.init(recordName: recordName, zoneID: zoneID)
    }
}

extension BlobReader {
    /// Reads the ID of a record.
    mutating func recordID() throws(BlobError) -> CKRecordID {
        CKRecordID(unchecked: try string(), zoneID: try zoneID())
    }
}

extension BlobWriter {
    /// Writes the ID of a record.
    mutating func write(_ recordID: CKRecordID) {
        write(recordID.recordName)
        write(recordID.zoneID)
    }
}
