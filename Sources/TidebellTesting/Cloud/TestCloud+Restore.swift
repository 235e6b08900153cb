// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TidebellCore
import TidebellServer
import TidebellWire

extension TestCloud {
    /// The moment of a backup, which goes when nobody has it any more.
    package final class Moment: Sendable {
        fileprivate let folder: URL
        /// How long the write-ahead log was.
        fileprivate let logSize: Int

        fileprivate init(_ folder: URL, logSize: Int) {
            self.folder = folder
            self.logSize = logSize
        }

        deinit {
            // What cannot be removed is one more in the system's temporary folder.
            try? FileManager.default.removeItem(at: folder)
        }
    }

    /// How a store comes back from an older moment.
    package enum Return: Sendable, CaseIterable {
        /// By `tidebell restore`, which begins a new life.
        case restored
        /// As the database of a backup that somebody copied back, which the next start has to
        /// notice.
        case copied
        /// By the loss of the end of the write-ahead log, which the next start has to notice too;
        /// the server must not have stopped since the backup.
        case cut
    }

    /// Makes a backup while the server runs, as `tidebell backup` does.
    package func backUp() async throws -> Moment {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-test-backup-\(Randomness.system.makeUUID())")
        let log = try Data(contentsOf: state.databaseFile("-wal"))
        let moment = Moment(folder, logSize: log.count)
        _ = try Backup.make(
            of: DataFolder(state.folder), to: folder, at: state.clock.instant
        )
        return moment
    }

    /// Puts the cloud back to the moment of a backup.
    package func goBack(to moment: Moment, _ way: Return) async throws {
        let database = state.databaseFile("")
        let log = state.databaseFile("-wal")
        // As a kill leaves them.
        let files = [try Data(contentsOf: database), try Data(contentsOf: log)]
        try await stop()
        switch way {
        case .restored:
            _ = try await Restoring.run(
                moment.folder, to: DataFolder(state.folder), replacing: true,
                at: state.clock.instant
            )
        case .copied:
            try Data(contentsOf: moment.folder.appendingPathComponent("tidebell.sqlite"))
                .write(to: database)
        case .cut:
            try files[0].write(to: database)
            try files[1].prefix(moment.logSize).write(to: log)
        }
        try await start()
    }
}

extension CloudState {
    /// A file of the store.
    fileprivate func databaseFile(_ suffix: String) -> URL {
        folder.appendingPathComponent("tidebell.sqlite\(suffix)")
    }
}
