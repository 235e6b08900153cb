// SPDX-License-Identifier: Apache-2.0
public import Foundation
import TidebellWire

/// A file that is stored with a record (ASSET-1).
///
/// ```swift
/// note["picture"] = CKAsset(fileURL: picture)
/// try await database.save(note)  // uploads the file
///
/// let fetched = try await database.record(for: note.recordID)  // downloads the file
/// if let url = (fetched["picture"] as? CKAsset)?.fileURL {
///     try FileManager.default.copyItem(at: url, to: localURL)
/// }
/// ```
///
/// Assets compare by identity, as with Apple's class. An asset belongs to one record.
/// See <https://developer.apple.com/documentation/cloudkit/ckasset>.
open class CKAsset: NSObject, NSSecureCoding, @unchecked Sendable {
    // Sendable: the state is behind a lock.
    private let state: Locked<State>

    /// Creates an asset from a file that exists now.
    ///
    /// The file is read when the record is saved; if it no longer exists then, saving fails with
    /// `assetFileNotFound` (ASSET-5).
    public init(fileURL: URL) {
        state = Locked(State(fileURL: fileURL))
        super.init()
    }

    /// Creates an asset the server named, or that was archived.
    init(stored: StoredFile?, fileURL: URL?, field: Field? = nil, stamp: FileStamp? = nil) {
        state = Locked(State(fileURL: fileURL, stored: stored, field: field, stamp: stamp))
        super.init()
    }

    /// Reads an asset from an archive; nil when it is damaged.
    ///
    /// The asset has the URL of the file and its identity on the server, but not its content. From
    /// archives of Apple's systems, the URL is read.
    public required init?(coder: NSCoder) {
        if coder.holdsValue(forKey: NSCoder.archiveBlobKey) {
            guard let values = coder.decodeArchiveBlob(Values.self) else { return nil }
            state = Locked(values.asset.snapshot)
        } else {
            let url = coder.appleObject(NSURL.self, forKey: "AssetFileURL") as URL?
            state = Locked(State(fileURL: url))
        }
        super.init()
    }

    /// Always true: assets support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the asset to a keyed archive: the URL of the file, not its content.
    open func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(Values(asset: self))
    }

    /// The file; nil when its content was not downloaded (SAVE-7).
    open var fileURL: URL? { state.current.fileURL }

    /// The file name and size as text, for logs and debuggers.
    open override var description: String {
        "<CKAsset: fileURL=\(fileURL?.path ?? "nil")>"
    }
}

extension CKAsset {
    /// What a server knows of an uploaded file.
    struct StoredFile: Sendable, Hashable {
        /// The checksum the server identifies the content by.
        var fileChecksum: String

        /// The size of the content, in bytes.
        var size: Int64

        /// The checksum of the key the content is encrypted with.
        var referenceChecksum: String?

        /// The key the content is encrypted with.
        var wrappingKey: String?

        /// The receipt of the upload, which stands for the content in a save.
        var receipt: String?

        /// Where to download the content from.
        var downloadURL: String?
    }

    /// The file and what the server knows of it.
    struct State: Sendable, Equatable {
        /// The local file.
        var fileURL: URL?

        /// The uploaded file; nil before the upload.
        var stored: StoredFile?

        /// The field that the uploaded file is of; nil when that is not known.
        var field: Field?

        /// The local file as it was when its content was that of the uploaded one.
        var stamp: FileStamp?

        /// Whether the server is to copy a file that another app exported.
        var isImported = false
    }

    /// A field of a record of one database.
    struct Field: Sendable, Hashable {
        var container: String?
        var scope: DatabaseScope
        var recordID: CKRecord.ID
        var key: CKRecord.FieldKey
    }

    /// What the server knows of the file; nil before the upload.
    var stored: StoredFile? {
        get { state.current.stored }
        set { state.withLock { $0.stored = newValue } }
    }

    /// Everything at once, for callers that decide by it.
    var snapshot: State { state.current }

    /// Notes that the content is to be copied by the server.
    func setImported() {
        state.withLock { $0.isImported = true }
    }

    /// Takes over the URL the content was downloaded to.
    func setDownloaded(to url: URL, stamp: FileStamp) {
        state.withLock { state in
            state.fileURL = url
            state.stamp = stamp
        }
    }

    /// Remembers the field whose value the server named.
    func setField(_ field: Field) {
        state.withLock { $0.field = field }
    }

    /// Remembers that the file was uploaded as it was then.
    func setUploaded(_ stored: StoredFile, for field: Field, stamp: FileStamp) {
        state.withLock { state in
            state.stored = stored
            state.field = field
            state.stamp = stamp
        }
    }
}

extension CKAsset {
    /// The archived state of an asset that stands in no record.
    struct Values: ArchiveValue {
        /// An asset of the same state.
        let asset: CKAsset

        static var kind: ArchiveKind { .asset }
    }
}

extension CKAsset.Values {
    init(from reader: inout BlobReader) throws(BlobError) {
        asset = try reader.asset()
    }

    func write(to writer: inout BlobWriter) {
        writer.write(asset)
    }
}
