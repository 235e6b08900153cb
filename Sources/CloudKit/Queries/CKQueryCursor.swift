// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The position at which the next page of a query's results begins. Known as
/// `CKQueryOperation.Cursor`.
///
/// It is a position in the order of the results, not a snapshot of them (QUERY-17). Compares by
/// identity, as Apple's class does.
/// See <https://developer.apple.com/documentation/cloudkit/ckqueryoperation/cursor-swift.class>.
open class CKQueryCursor: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable: every stored property of this class is a constant.

    /// The request that asks for what is left, as bytes; those of another service in an
    /// archive of Apple's.
    let data: Data

    /// Creates a cursor of the request that goes on.
    init(data: Data) {
        self.data = data
        super.init()
    }

    /// Reads a cursor from an archive; nil when it is damaged.
    ///
    /// Reads archives of Apple's systems too, but only Apple's servers can continue from those, so
    /// an operation fails with `invalidArguments`.
    public required init?(coder: NSCoder) {
        if let values = coder.decodeArchiveBlob(Values.self) {
            data = values.data
        } else if !coder.holdsValue(forKey: NSCoder.archiveBlobKey),
            let other = coder.appleData(forKey: "CursorData")
        {
            data = other
        } else {
            return nil
        }
        super.init()
    }

    /// Always true: cursors support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the cursor to a keyed archive.
    open func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(Values(data: data))
    }

    /// Returns the cursor itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

extension CKQueryCursor {
    /// The archived state of a cursor.
    struct Values: ArchiveValue {
        var data: Data

        static var kind: ArchiveKind { .queryCursor }

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
