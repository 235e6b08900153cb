// SPDX-License-Identifier: Apache-2.0
public import Foundation
import TidebellWire

extension CKNotification {
    /// The identity of a push.
    // NB: Foundation on Linux cannot archive nested classes.
    public typealias ID = CKNotificationID
}

/// The identity of a push (NOTIF-9). Known as `CKNotification.ID`.
///
/// Opaque; compares by value.
/// See <https://developer.apple.com/documentation/cloudkit/cknotification/id>.
open class CKNotificationID: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable: every stored property of this class is a constant.

    /// The ID as the server writes it, a lower-case UUID.
    let rawValue: String

    /// Creates an ID that no push has.
    public override init() {
        rawValue = NewIdentifier.make().lowercased()
        super.init()
    }

    /// Creates the ID of a push.
    init(_ rawValue: String) {
        self.rawValue = rawValue
        super.init()
    }

    /// Reads an ID from an archive; nil when it is damaged.
    public required init?(coder: NSCoder) {
        guard let values = coder.decodeArchiveBlob(Values.self) else { return nil }
        rawValue = values.rawValue
        super.init()
    }

    /// Always true: IDs support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the ID to a keyed archive.
    open func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(Values(rawValue: rawValue))
    }

    /// Returns the ID itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares the IDs.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKNotificationID else { return false }
        return rawValue == other.rawValue
    }

    /// A hash of the ID.
    open override var hash: Int { rawValue.hashValue }

    /// The ID as text, for logs and debuggers.
    open override var description: String { "<CKNotificationID: \(rawValue)>" }
}

extension CKNotificationID {
    /// The archived state of an ID.
    struct Values: ArchiveValue {
        var rawValue: String

        static var kind: ArchiveKind { .notificationID }

        init(rawValue: String) {
            self.rawValue = rawValue
        }

        init(from reader: inout BlobReader) throws(BlobError) {
            rawValue = try reader.string()
        }

        func write(to writer: inout BlobWriter) {
            writer.write(rawValue)
        }
    }
}
