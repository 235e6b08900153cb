// SPDX-License-Identifier: Apache-2.0
public import Foundation

extension CKRecordZone {
    /// The identity of a record zone: its name and its owner.
    // NB: Foundation on Linux cannot archive nested classes.
    public typealias ID = CKRecordZoneID
}

/// The identity of a record zone: its name and its owner. Known as `CKRecordZone.ID`.
///
/// Compares by value. A zone of the signed-in user has the owner name
/// ``CKCurrentUserDefaultName`` (ZONE-8).
/// See <https://developer.apple.com/documentation/cloudkit/ckrecordzone/id>.
open class CKRecordZoneID: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable: every stored property of this class is a constant.
    private let values: Values

    /// Creates the ID of a zone.
    ///
    /// - Parameters:
    ///   - zoneName: ASCII, 1 to 255 characters, not starting with an underscore
    ///     (ZONE-4). The server checks all but the first.
    ///   - ownerName: The record name of the owner; the signed-in user when left out.
    /// - Precondition: `zoneName` is not empty.
    public convenience init(
        zoneName: String = CKRecordZoneID.defaultZoneName,
        ownerName: String = CKCurrentUserDefaultName
    ) {
        precondition(!zoneName.isEmpty, "The name of a record zone must not be empty.")
        precondition(!ownerName.isEmpty, "The owner name of a record zone must not be empty.")
        self.init(unchecked: zoneName, ownerName: ownerName)
    }

    /// Creates the ID of a zone; without an owner name, of the signed-in user.
    @_disfavoredOverload
    @available(*, deprecated, message: "Pass CKCurrentUserDefaultName instead of nil.")
    public convenience init(
        zoneName: String = CKRecordZoneID.defaultZoneName,
        ownerName: String? = CKCurrentUserDefaultName
    ) {
        self.init(zoneName: zoneName, ownerName: ownerName ?? CKCurrentUserDefaultName)
    }

    /// Creates the ID of a zone a server or an archive named; nothing is checked.
    init(unchecked zoneName: String, ownerName: String) {
        values = Values(zoneName: zoneName, ownerName: ownerName)
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

    /// The name of the zone.
    open var zoneName: String { values.zoneName }

    /// The record name of the user who owns the zone.
    open var ownerName: String { values.ownerName }

    /// Returns the ID itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares name and owner.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKRecordZoneID else { return false }
        return values == other.values
    }

    /// A hash of name and owner.
    open override var hash: Int { values.hashValue }

    /// Name and owner as text, for logs and debuggers.
    open override var description: String { "\(zoneName):\(ownerName)" }

    /// Name and owner as text, for logs and debuggers.
    open override var debugDescription: String {
        "<CKRecordZoneID: zoneName=\(zoneName), ownerName=\(ownerName)>"
    }
}

extension CKRecordZoneID {
    /// The default zone of the signed-in user's database (ZONE-1).
    public static let `default` = CKRecordZoneID()

    /// The name of the default zone of a database (ZONE-1).
    public static let defaultZoneName: String = "_defaultZone"
}

extension CKRecordZoneID {
    /// The archived state of a zone ID.
    struct Values: Hashable, Sendable, ArchiveValue {
        /// The name of the zone.
        var zoneName: String

        /// The record name of the owner.
        var ownerName: String

        static var kind: ArchiveKind { .recordZoneID }
    }
}

extension CKRecordZoneID.Values {
    init(from reader: inout BlobReader) throws(BlobError) {
        self.init(zoneName: try reader.string(), ownerName: try reader.string())
    }

    func write(to writer: inout BlobWriter) {
        writer.write(zoneName)
        writer.write(ownerName)
    }

    /// Reads what Apple's class writes; nil when the archive holds nothing of it.
    init?(apple coder: NSCoder) {
        guard let zoneName = coder.appleString(forKey: "ZoneName") else { return nil }
        self.init(
            zoneName: zoneName,
            ownerName: coder.appleString(forKey: "ownerName") ?? CKCurrentUserDefaultName
        )
    }
}

extension BlobReader {
    /// Reads the ID of a zone.
    mutating func zoneID() throws(BlobError) -> CKRecordZoneID {
        CKRecordZoneID(unchecked: try string(), ownerName: try string())
    }
}

extension BlobWriter {
    /// Writes the ID of a zone.
    mutating func write(_ zoneID: CKRecordZoneID) {
        write(zoneID.zoneName)
        write(zoneID.ownerName)
    }
}
