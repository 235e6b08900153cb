// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// Folders whose own names are durable.
///
/// A folder that another upload has just made may not be durable: its maker flushes the parent only
/// afterwards. So each of them is flushed with its parent once by this process, whoever
/// made it.
final class DurableFolders: Sendable {
    private let known = Mutex(Set<String>())
    private let flush: @Sendable (URL) throws -> Void

    /// Creates an empty list; nothing is touched yet.
    ///
    /// - Parameter flush: What makes the names in a folder durable.
    init(flush: @escaping @Sendable (URL) throws -> Void = DurableFile.flush) {
        self.flush = flush
    }

    /// Makes a folder for the owner only, if it is absent, and its name durable.
    func make(_ folder: String) throws {
        guard !known.withLock({ $0.contains(folder) }) else { return }
        let isNew = mkdir(folder, 0o700) == 0
        guard isNew || errno == EEXIST else { throw DiskError("make a folder") }
        let parent = (folder as NSString).deletingLastPathComponent
        // A parent that is not ours to read has no folders that were made by us.
        if isNew || access(parent, R_OK) == 0 { try flush(URL(filePath: parent)) }
        known.withLock { _ = $0.insert(folder) }
    }
}
