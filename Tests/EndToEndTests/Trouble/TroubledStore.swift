// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import Testing
import TidebellCore
import TidebellProcesses
import TidebellScheduling
import TidebellServer

/// The right to write into a server's store, held by this process.
final class StoreLock: Sendable {
    private let store: any OpenedStore
    private let isOver = DispatchSemaphore(value: 0)
    private let holder: Mutex<Task<Void, any Error>?> = Mutex(nil)

    /// Takes the lock, beside the server.
    init(_ folder: URL) async throws {
        let store = try DataFolder(folder).openStore(
            for: .administering, time: .system, randomness: .system
        )
        let isOver = isOver
        self.store = store
        let (taken, continuation) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            defer { continuation.finish() }
            // Blocks the thread of this store alone.
            try await store.write(.everything) { _ in
                continuation.yield()
                isOver.wait()
            }
        }
        holder.withLock { $0 = task }
        for await _ in taken { return }
        try await task.value
    }

    /// Gives it back.
    func release() async throws {
        isOver.signal()
        try await holder.withLock(\.self)?.value
        try await store.close()
    }
}

/// Locks of the index that all processes share which read the store: nobody can read meanwhile.
final class ReadLock {
    /// Where SQLite's locks of readers begin in the file, and how many there are (sqlite.org/walformat.html).
    private static let first = 123
    private static let count = 5

    private let descriptor: Int32

    /// Waits until nobody reads, and takes the locks.
    init(_ folder: URL) throws {
        descriptor = open(folder.appendingPathComponent("tidebell.sqlite-shm").path, O_RDWR)
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = off_t(Self.first)
        lock.l_len = off_t(Self.count)
        try #require(fcntl(descriptor, F_SETLKW, &lock) == 0)
    }

    /// Gives them back.
    deinit { close(descriptor) }
}

/// How long the files of a process may become: a write beyond it is an I/O error to the writer.
enum FileSizeLimit {
    /// Sets the limit of a server; nil takes it away.
    static func set(_ bytes: Int?, of server: ChildProcess) async throws {
        let command = try ChildProcess(
            URL(fileURLWithPath: "/usr/bin/env"),
            [
                "prlimit", "--pid", "\(server.processID)",
                // What stands before the colon is the soft limit, which can be taken back.
                "--fsize=\(bytes.map(String.init) ?? "unlimited"):",
            ]
        )
        try #require(await command.waitUntilExit() == 0)
    }
}
