// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import Synchronization

/// The folders of clouds, which are removed with their cloud, and at the latest when the process
/// ends in order: nobody waits then for what a cloud was still about to remove.
enum TemporaryFolders {
    private static let folders = Mutex<Set<URL>>([])
    private static let removesAtEnd: Void = {
        _ = atexit { TemporaryFolders.removeAll() }
    }()

    /// Notes folders that are to be removed.
    static func add(_ added: [URL]) {
        _ = removesAtEnd
        folders.withLock { $0.formUnion(added) }
    }

    /// Removes folders; those that are not there need nothing, and one that cannot be removed is
    /// one more in the system's temporary folder.
    static func remove(_ removed: [URL]) {
        for folder in removed { try? FileManager.default.removeItem(at: folder) }
        folders.withLock { $0.subtract(removed) }
    }

    private static func removeAll() {
        // Whoever still writes may make a first attempt fail.
        for _ in 0..<2 {
            for folder in folders.withLock(\.self) {
                try? FileManager.default.removeItem(at: folder)
            }
        }
    }
}
