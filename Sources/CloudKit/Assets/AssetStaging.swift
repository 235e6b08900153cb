// SPDX-License-Identifier: Apache-2.0
import Foundation
import Crypto
import TidebellWire

/// Where a device keeps downloaded files until the app has moved them (ASSET-3).
///
/// Every asset has a file of its own, which the app may move or change. What it leaves
/// is purged: files older than ``maximumAge``, and the oldest while all together take
/// more than ``maximumSize``, but none younger than ``minimumAge``.
struct AssetStaging: Sendable {
    /// How long a file stays, in seconds: three days.
    static let maximumAge: TimeInterval = 3 * 24 * 3600
    /// How long it stays whatever its size, in seconds: an hour.
    static let minimumAge: TimeInterval = 3600
    /// The bytes that may stay.
    static let maximumSize: Int64 = 2 << 30
    /// How many bytes come between two purges.
    static let bytesPerPurge: Int64 = 128 << 20

    /// The bytes that came to each folder since it was purged.
    private static let received = Locked<[String: Int64]>([:])

    /// The folder.
    let folder: URL

    /// The folder of a device: the one it is given, one in its state folder, or one among
    /// temporary files.
    init(of configuration: DeviceConfiguration) {
        folder =
            configuration.downloads
            ?? configuration.stateFolder?.appendingPathComponent("assets", isDirectory: true)
            ?? FileManager.default.temporaryDirectory.appendingPathComponent(
                "tidebell-assets-\(configuration.deviceID)", isDirectory: true
            )
    }

    /// Returns a new URL for a file, whose folder exists.
    func makeFileURL() throws -> URL {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700]
        )
        return folder.appendingPathComponent(NewIdentifier.make().lowercased())
    }

    /// Purges at the first use in this process, and after every ``bytesPerPurge``.
    func purgeIfDue(receiving size: Int64, now: Date) {
        let isDue = Self.received.withLock { received in
            let before = received[folder.path]
            let sum = (before ?? 0) + min(size, Self.bytesPerPurge + 1)
            let isDue = before == nil || sum > Self.bytesPerPurge
            received[folder.path] = isDue ? 0 : sum
            return isDue
        }
        if isDue { purge(now: now) }
    }

    /// Removes what is too old or too much.
    func purge(now: Date) {
        let keys: Set<URLResourceKey> = [.contentModificationDateKey, .fileSizeKey]
        // A folder that cannot be read has nothing to purge.
        let urls =
            (try? FileManager.default.contentsOfDirectory(
                at: folder, includingPropertiesForKeys: Array(keys)
            )) ?? []
        var files: [(url: URL, date: Date, size: Int64)] = urls.compactMap { url in
            guard let values = try? url.resourceValues(forKeys: keys),
                let date = values.contentModificationDate
            else { return nil }
            return (url, date, Int64(values.fileSize ?? 0))
        }
        files.sort { $0.date < $1.date }
        var total = files.reduce(0) { $0 + $1.size }
        for file in files {
            let age = now.timeIntervalSince(file.date)
            guard age > Self.maximumAge || (total > Self.maximumSize && age > Self.minimumAge)
            else { continue }
            unlink(file.url.path)
            total -= file.size
        }
    }
}

/// A file while it is downloaded: appears under its name when it is whole and right.
///
/// Unchecked, because one download has it, whose calls come one after the other.
final class StagedFile: @unchecked Sendable {
    /// What was expected, for the reason of an error.
    struct Mismatch: Error, CustomStringConvertible {
        let description: String
    }

    /// The bytes that came so far.
    private(set) var size: Int64 = 0
    private let url: URL
    private let draft: String
    private let descriptor: Int32
    private var checksum = Insecure.SHA1()

    /// Creates the file.
    init(_ url: URL) throws {
        self.url = url
        draft = url.path + ".part"
        descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure() }
        checksum.update(data: FileChecksum.salt)
    }

    deinit {
        close(descriptor)
        // Nothing is there once it has its name.
        unlink(draft)
    }

    /// Appends bytes.
    func write(_ bytes: [UInt8]) throws {
        checksum.update(data: bytes)
        size += Int64(bytes.count)
        try bytes.withUnsafeBytes { bytes in
            var start = 0
            while start < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
                let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw Self.failure() }
                start += count
            }
        }
    }

    /// Gives the file its name if it is what the server described; returns its stamp.
    func finish(
        size expected: Int64, checksum text: String, at date: Date
    ) throws -> FileStamp {
        guard size == expected else {
            throw Mismatch(description: "it has \(size) bytes instead of \(expected)")
        }
        guard FileChecksum.text(ofDigest: checksum.finalize()) == text else {
            throw Mismatch(description: "its checksum is not the one the record names")
        }
        setModificationDate(date, of: descriptor)
        guard rename(draft, url.path) == 0, let stamp = FileStamp(descriptor: descriptor)
        else { throw Self.failure() }
        return stamp
    }

    private static func failure() -> Mismatch {
        Mismatch(description: String(cString: strerror(errno)))
    }
}
