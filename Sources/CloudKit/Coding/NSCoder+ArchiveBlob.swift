// SPDX-License-Identifier: Apache-2.0
import Foundation

extension NSCoder {
    /// The key our objects stand under in a keyed archive.
    static let archiveBlobKey = "TidebellArchive"

    /// Writes `value` as one run of bytes.
    ///
    /// - Precondition: The coder writes keyed archives.
    func encodeArchiveBlob(_ value: some ArchiveValue, forKey key: String = archiveBlobKey) {
        precondition(allowsKeyedCoding, "CloudKit objects can be written to keyed archives only.")
        let bytes = ArchiveBlob.bytes(of: value)
        bytes.withUnsafeBufferPointer { buffer in
            encodeBytes(buffer.baseAddress, length: buffer.count, forKey: key)
        }
    }

    /// Reads a value written by ``encodeArchiveBlob(_:forKey:)``.
    ///
    /// Nil when there is none, or when it is damaged.
    func decodeArchiveBlob<Value: ArchiveValue>(
        _ type: Value.Type,
        forKey key: String = archiveBlobKey
    ) -> Value? {
        guard let bytes = inlineBytes(forKey: key) else { return nil }
        // Which check failed does not matter to the caller of an archive: it is damaged.
        return try? ArchiveBlob.value(type, from: bytes)
    }

    /// Returns whether the archive holds something under `key`.
    ///
    /// NB: on Linux, asking for a key that is missing ends the process, and so does
    /// asking a coder that only writes.
    func holdsValue(forKey key: String) -> Bool {
        (self as? NSKeyedUnarchiver)?.containsValue(forKey: key) ?? false
    }

    /// Returns bytes that stand in the archive directly, not as an object.
    func inlineBytes(forKey key: String) -> [UInt8]? {
        guard holdsValue(forKey: key) else { return nil }
        return withDecodedUnsafeBytes(forKey: key) { $0.map { Array($0) } }
    }

    /// Reports that an object without a failable initializer could not be read.
    func failDecoding(of type: Any.Type) {
        // NB: with the other policy Foundation ends the process; leave the choice
        // of a damaged archive to the caller, who gets an empty object.
        guard decodingFailurePolicy == .setErrorAndReturn else { return }
        // NB: on Linux, `failWithError` alone never reaches the caller of the
        // unarchiver. Asking for a key that is missing does; the key is in the error.
        _ = decodeObject(of: NSString.self, forKey: "an undamaged \(type)")
    }
}
