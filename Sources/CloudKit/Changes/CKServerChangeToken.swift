// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A point in the history of a database or of a zone (TOK-1).
///
/// Store the token together with the changes before it, and pass it to the next fetch:
///
/// ```swift
/// let changes = try await database.recordZoneChanges(inZoneWith: zoneID, since: store.token)
/// for (_, result) in changes.modificationResultsByID { store.keep(try result.get().record) }
/// for deletion in changes.deletions { store.remove(deletion.recordID) }
/// store.token = changes.changeToken
/// ```
///
/// It can be archived:
///
/// ```swift
/// let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
/// let restored = try NSKeyedUnarchiver.unarchivedObject(
///     ofClass: CKServerChangeToken.self, from: data)
/// ```
///
/// It is opaque: only the server that made it can read it. Tokens compare by value.
/// See <https://developer.apple.com/documentation/cloudkit/ckserverchangetoken>.
open class CKServerChangeToken: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable: every stored property of this class is a constant.

    /// The bytes the server gave; empty in a token that was made from nothing.
    let data: Data

    /// Creates a token of the bytes a server gave.
    init(data: Data) {
        self.data = data
        super.init()
    }

    /// Reads a token from an archive; nil when it is damaged.
    ///
    /// Reads archives of Apple's systems too. An archive without a token gives an empty token, as
    /// on Apple's systems, where tests create one this way; every server refuses it with
    /// `changeTokenExpired`.
    public required init?(coder: NSCoder) {
        if let values = coder.decodeArchiveBlob(Values.self) {
            data = values.data
        } else if coder.holdsValue(forKey: NSCoder.archiveBlobKey) {
            return nil
        } else {
            data = coder.appleData(forKey: "ChangeTokenData") ?? Data()
        }
        super.init()
    }

    /// Always true: tokens support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the token to a keyed archive.
    open func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(Values(data: data))
    }

    /// Returns the token itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares the bytes.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKServerChangeToken else { return false }
        return data == other.data
    }

    /// A hash of the bytes.
    open override var hash: Int { data.hashValue }

    /// The bytes in Base64, for logs and debuggers.
    open override var description: String {
        "<CKServerChangeToken: data=\(data.base64EncodedString())>"
    }
}

extension CKServerChangeToken {
    /// The archived state of a token.
    struct Values: ArchiveValue {
        var data: Data

        static var kind: ArchiveKind { .serverChangeToken }

        init(data: Data) {
            self.data = data
        }

        init(from reader: inout BlobReader) throws(BlobError) {
            data = try reader.data()
        }

        func write(to writer: inout BlobWriter) {
            writer.write(data)
        }
    }
}
