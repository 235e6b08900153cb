// SPDX-License-Identifier: Apache-2.0
package import Foundation
package import Logging
import Synchronization
package import TidebellCore
package import TidebellHTTP
import TidebellScheduling
import TidebellWire

/// Files of records in a folder beside the store.
///
/// ```
/// assets/incoming/NAME    on its way; thrown away when the folder is opened
/// assets/kept/ab/abcd…    whole and durable; known to the store, or orphaned
/// ```
///
/// Nodes of one cloud share the folder: files on their way to a node are in `incoming-NODE`.
///
/// Folders are for their owner only (0700), so are the files (0600). Disk access
/// happens on threads of its own, so that a slow disk holds up nothing else.
///
/// What the files hold is encrypted, each with a key of its own, which the store has, wrapped
/// by the root key (``FileFrames``). Files of versions before 4 are not.
package final class AssetFolder: AssetStore {
    /// Bytes that are read from a file at a time.
    static let pieceSize = 256 * 1024
    /// Names that the store is asked about at a time.
    static let namesPerQuestion = 500

    private let folder: URL
    /// Where files are that are on their way.
    private let incoming: URL
    /// Whether other nodes keep files here, too.
    private let isShared: Bool
    /// Of a folder that is shared: the files that no record named at the last look. Another node may have been
    /// about to note them.
    private let seenOrphaned = Mutex(Set<String>())
    private let disk = DispatchQueue(label: "tidebell.assets", attributes: .concurrent)
    private let rootKey: RootKey?
    private let makeName: @Sendable () -> String
    private let folders = DurableFolders()
    private let troubles: AssetTroubles
    /// Kept files that the store is about to note: not orphaned.
    private let arriving = Mutex(Set<String>())

    /// Opens the folder, made if it is absent.
    ///
    /// - Parameters:
    ///   - node: The node that opens it, of several that share it; nil for a server that is alone.
    ///   - search: How the operator finds what is damaged.
    ///   - makeName: Names kept files, each with a name of its own.
    package init(
        _ folder: URL, of node: String? = nil, _ search: DamageSearch = .check,
        makeName: @escaping @Sendable () -> String = AssetFolder.randomName,
        rootKey: RootKey? = nil, logger: Logger
    ) throws {
        self.folder = folder
        isShared = node != nil
        incoming = folder.appendingPathComponent(node.map { "incoming-\($0)" } ?? "incoming")
        self.makeName = makeName
        troubles = AssetTroubles(
            ["folder": "\(folder.path)"],
            search, remedy: Self.remedy(search), naming: DataFolder.keptFile, logger: logger)
        self.rootKey = rootKey
        try Self.makeFolder(folder)
        try Self.makeFolder(folder.appendingPathComponent("kept"))
        try? FileManager.default.removeItem(at: incoming)  // it is often not there
        try Self.makeFolder(incoming)
        try AssetFolderLock.make(in: folder)
        // The files are flushed with their folders, so these must be durable as well.
        try DurableFile.flush(folder)
        try DurableFile.flush(folder.deletingLastPathComponent())
    }

    private static func remedy(_ search: DamageSearch) -> String {
        let names =
            search == .check ? "'tidebell check' names the records that hold it; " : ""
        return names + "put it back from a backup, where it has the same name"
    }

    // MARK: Coming

    package func take(
        upTo limit: Int64,
        from produce: @Sendable (inout any BodyWriter) async throws -> Void,
        keep: @Sendable (StoredAsset) async throws -> StoredAsset?
    ) async throws -> StoredAsset? {
        let name = makeName()
        let incoming = incoming.appendingPathComponent(name).path
        arriving.withLock { _ = $0.insert(name) }
        // A file that the store did not note is orphaned from here on.
        defer { arriving.withLock { _ = $0.remove(name) } }
        do {
            let key = try rootKey?.makeFileKey(of: name)
            let file = try await onDisk {
                try IncomingFile(
                    path: incoming, limit: limit, frames: (key?.key).map(FileFrames.init)
                )
            }
            var writer: any BodyWriter = IncomingFileWriter(file: file, disk: disk)
            try await produce(&writer)
            var asset = try await onDisk { [folders, location = location(of: name)] in
                try file.finish(named: name, movingTo: location, in: folders)
            }
            asset.key = key?.wrapped
            let kept = try await keep(asset)
            if kept?.file != name { try await remove([name]) }
            troubles.end(.storing)
            return kept
        } catch {
            _ = try? await onDisk { unlink(incoming) }
            throw troubles.refusal(error)
        }
    }

    // MARK: Going

    package func contents(
        of asset: StoredAsset, in range: Range<Int64>
    ) async throws -> WebResponse.Body? {
        guard let open = try await open(asset, toRead: range) else { return nil }
        let (disk, troubles) = (disk, troubles)
        return .file(length: range.upperBound - range.lowerBound) { writer in
            var offset = range.lowerBound
            while offset < range.upperBound {
                let count = Int(min(Int64(Self.pieceSize), range.upperBound - offset))
                let piece: [UInt8]
                do {
                    piece = try await disk.run { [offset] in try open.read(count, at: offset) }
                } catch {
                    // The answer has begun: all that is left is to break it off.
                    troubles.reportDamage(of: asset.file, "\(error)")
                    throw error
                }
                offset += Int64(piece.count)
                try await writer.write(piece)
            }
        }
    }

    package func hasFile(of asset: StoredAsset) async -> Bool {
        let path = location(of: asset.file).path
        let isThere = try? await onDisk { access(path, F_OK) == 0 || errno != ENOENT }
        // A file that cannot be looked at is not known to be lost.
        return isThere ?? true
    }

    /// Opens a kept file and reads the beginning and the end of the range; nil when there
    /// is no such file.
    ///
    /// Where the disk fails at once, or the file is too short, the client gets a reason
    /// instead of an answer that breaks off, which it would take for the network's fault.
    private func open(
        _ asset: StoredAsset, toRead range: Range<Int64>
    ) async throws -> OpenFile? {
        let path = location(of: asset.file).path
        do {
            guard StoredAsset.isPlainName(asset.file) else { throw DamagedFile.otherName }
            let frames = try asset.frames(under: rootKey)
            let file = try await onDisk { () -> OpenFile? in
                let open = try OpenFile(path: path, size: asset.size, frames: frames)
                if let open, !range.isEmpty {
                    let count = Int(min(Int64(Self.pieceSize), Int64(range.count)))
                    _ = try open.read(count, at: range.lowerBound)
                    _ = try open.read(1, at: range.upperBound - 1)
                }
                return open
            }
            troubles.end(.opening)
            return file
        } catch {
            throw failure(error, reading: asset.file)
        }
    }

    /// Returns the error for a client whose file cannot be read, and logs it for the operator once.
    func failure(_ error: any Error, reading file: String) -> WireError {
        troubles.failure(error, reading: file)
    }

    package func reportMissing(_ asset: StoredAsset) {
        troubles.reportDamage(of: asset.file, "it is missing")
    }

    /// Removes files, or leaves them orphaned while a backup copies.
    package func remove(_ files: [String]) async throws {
        // A name that leads elsewhere is none that was given here.
        let paths = files.filter { !$0.contains("/") }.map { location(of: $0).path }
        try await onDisk { [folder] in
            guard !paths.isEmpty, let lock = try AssetFolderLock.toRemove(in: folder) else {
                return
            }
            defer { withExtendedLifetime(lock) {} }
            for path in paths where unlink(path) != 0 && errno != ENOENT {
                throw DiskError("remove")
            }
        }
    }

    package func removeOrphanedFiles(
        unless known: @Sendable (Set<String>) async throws -> Set<String>
    ) async throws -> Int {
        let mayRemove = try await onDisk { [folder] in
            try AssetFolderLock.toRemove(in: folder) != nil
        }
        guard mayRemove else { return 0 }
        // Looked up before the files: what arrives later is not among those.
        let kept = folder.appendingPathComponent("kept")
        let arrivingBefore = arriving.withLock { $0 }
        let names = try await onDisk {
            try Self.names(in: kept).flatMap { try Self.names(in: kept.appendingPathComponent($0)) }
        }
        let orphanedBefore = seenOrphaned.withLock { $0 }
        var orphaned: Set<String> = []
        var count = 0
        for start in stride(from: 0, to: names.count, by: Self.namesPerQuestion) {
            let some = Set(names[start..<min(start + Self.namesPerQuestion, names.count)])
            let asked = some.subtracting(arrivingBefore).subtracting(arriving.withLock { $0 })
            let orphans = asked.subtracting(try await known(asked))
            let removed = isShared ? orphans.intersection(orphanedBefore) : orphans
            try await remove(Array(removed))
            orphaned.formUnion(orphans.subtracting(removed))
            count += removed.count
        }
        if isShared { seenOrphaned.withLock { [orphaned] in $0 = orphaned } }
        return count
    }

    // MARK: -

    /// Makes a name that no other file has, of 32 hexadecimal digits.
    package static func randomName() -> String {
        Randomness.system.makeUUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "")
    }

    private func location(of name: String) -> URL {
        folder.appendingPathComponent("kept/\(name.prefix(2))/\(name)")
    }

    private func onDisk<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await disk.run(body)
    }

    private static func names(in folder: URL) throws -> [String] {
        // Foundation's error would not be a sentence.
        guard access(folder.path, R_OK | X_OK) == 0 else { throw DiskError("read \(folder.path)") }
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private static func makeFolder(_ url: URL) throws {
        guard mkdir(url.path, 0o700) != 0, errno != EEXIST else { return }
        guard errno == ENOENT else { throw DiskError("make \(url.path)") }
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700]
        )
    }
}

extension DispatchQueue {
    /// Runs `body` on the queue, whatever it waits for.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            async { continuation.resume(with: Result(catching: body)) }
        }
    }
}
