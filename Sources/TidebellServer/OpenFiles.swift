// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellHTTP

/// The files this process may have open, of which each connection is one.
///
/// The process must never reach the limit. It would not only fail to open a file then:
/// libdispatch, which looks after its threads in `/proc`, ends the process when it cannot.
package enum OpenFiles {
    /// What the limit is divided into.
    package struct Shares: Sendable, Hashable {
        package var connections: Int
        /// Files of records that come or go; each has one descriptor beside its
        /// connection's, or two where files are in a bucket.
        package var transfers: Int
    }

    /// Files kept free for what comes and goes for a moment: the store's temporary files,
    /// ways to other servers, folders that are flushed, the system's libraries.
    private static let reserve = 64
    /// Files kept free where the limit is small.
    private static let leastReserve = 14
    /// Descriptors of an event loop; there is one for each core.
    private static let filesPerLoop = 3
    /// Descriptors of the store's readers, opened when they are needed first: two for each.
    private static let laterFiles = max(16, 6 * ProcessInfo.processInfo.activeProcessorCount)
    /// The most connections, even where the system sets no limit.
    private static let mostConnections = 1_000_000

    /// The limit of open files, as this system's C library names it.
    #if canImport(Glibc)
        private static var openFiles: __rlimit_resource_t { .init(RLIMIT_NOFILE.rawValue) }
    #else
        private static var openFiles: Int32 { RLIMIT_NOFILE }
    #endif

    /// Raises the limit of open files as far as the system lets it.
    package static func raiseLimit() {
        guard var limit = current() else { return }
        limit.rlim_cur = limit.rlim_max
        // A system that refuses leaves the limit as it was, which `shares` respects.
        _ = setrlimit(openFiles, &limit)
    }

    /// Opens standard input, output and error where they were closed: another file would
    /// get their number, and then what is printed. To be called before anything else is opened,
    /// also by the system's libraries.
    package static func openStandardFiles() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) == -1 {
            // It gets the lowest free number, this one. Without /dev nothing can be done. Not to
            // write to: a command whose output was closed still fails.
            _ = open("/dev/null", O_RDONLY)
        }
    }

    /// Divides what is left below the limit. More connections would not fail, but hang
    /// unaccepted.
    ///
    /// - Parameters:
    ///   - transfers: The most files that come and go.
    ///   - filesPerTransfer: The descriptors that one of them has beside its connection's.
    package static func shares(
        transfers: Int = Cloud.transferCapacity, filesPerTransfer: Int = 1
    ) -> Shares {
        let limit = Int(min(current()?.rlim_cur ?? 1024, rlim_t(mostConnections * 2)))
        let loops = ProcessInfo.processInfo.activeProcessorCount * filesPerLoop
        return shares(
            of: limit, used: openCount(below: limit) + loops + laterFiles, transfers: transfers,
            filesPerTransfer: filesPerTransfer)
    }

    /// Divides what is left of a limit beside the files in use.
    package static func shares(
        of limit: Int, used: Int, transfers: Int = Cloud.transferCapacity,
        filesPerTransfer: Int = 1
    ) -> Shares {
        let reserve = min(reserve, max(leastReserve, limit / 8))
        let free = max(2, limit - used - reserve)
        // At least one upload and one download.
        let transfers = max(2, min(transfers, free / (4 * filesPerTransfer)))
        return Shares(
            connections: min(max(1, free - transfers * filesPerTransfer), mostConnections),
            transfers: transfers
        )
    }

    /// The descriptors that are open.
    private static func openCount(below limit: Int) -> Int {
        if let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            return names.count
        }
        // Without /proc. A process that has just started has no higher ones.
        return (0..<Int32(min(limit, 1024))).count { fcntl($0, F_GETFD) != -1 }
    }

    private static func current() -> rlimit? {
        var limit = rlimit()
        guard getrlimit(openFiles, &limit) == 0 else {
            return nil
        }
        return limit
    }
}
