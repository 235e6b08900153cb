// SPDX-License-Identifier: Apache-2.0
import CloudKit
internal import TidebellCore
internal import TidebellServer
internal import TidebellWire

extension TestCloud {
    /// The store of a cloud as it was at a moment.
    package struct Backup: Sendable {
        fileprivate let file: URL
    }

    /// How a store comes back from an older moment.
    package enum Return: Sendable, CaseIterable {
        /// As a restored backup does, which begins a new life.
        case restored
        /// Without a word, which the next start has to notice.
        case silent
    }

    /// Copies the store, while the server is stopped for a moment.
    package func backUp() async throws -> Backup {
        try await stop()
        let backup = Backup(file: state.folder.appendingPathComponent("backup-\(UUID.random())"))
        try FileManager.default.copyItem(at: state.storeFile, to: backup.file)
        try await start()
        return backup
    }

    /// Puts the store back to an older moment.
    package func goBack(to backup: Backup, _ way: Return) async throws {
        try await stop()
        try FileManager.default.removeItem(at: state.storeFile)
        try FileManager.default.copyItem(at: backup.file, to: state.storeFile)
        if way == .restored {
            let store = try DataFolder(state.folder).openStore(for: .serving)
            try await store.beginNewIncarnation(at: state.clock.instant)
            try await store.close()
        }
        try await start()
    }
}

extension CloudState {
    /// The file of the store.
    fileprivate var storeFile: URL { folder.appendingPathComponent("tidebell.sqlite") }
}
