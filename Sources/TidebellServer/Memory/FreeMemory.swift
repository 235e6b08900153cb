// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import ServiceLifecycle
import TidebellScheduling

/// Gives memory back to the system that was used and is free: glibc keeps in an arena for each thread what a
/// crowd needed once.
struct FreeMemory: Service {
    let clock: any Clock<Duration>
    let logger: Logger

    /// Looks at the memory until the task is cancelled or the service group shuts down.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            var growth = MemoryGrowth()
            // Sleeping fails by cancellation only, which is the end.
            while (try? await clock.sleep(for: MemoryGrowth.interval)) != nil {
                guard let before = Self.residentBytes, growth.isWorthATry(at: before) else {
                    continue
                }
                Self.giveBack()
                let after = Self.residentBytes ?? before
                growth.gaveBack(leaving: after)
                logger.debug(
                    "free memory given back to the system",
                    metadata: ["before": "\(before >> 20) MiB", "after": "\(after >> 20) MiB"])
            }
        }
    }

    /// Takes some milliseconds.
    private static func giveBack() {
        #if os(Linux)
            // Looked up by name: Swift's module of glibc lacks it, and other libraries have none.
            guard let found = dlsym(nil, "malloc_trim") else { return }
            typealias Trim = @convention(c) (Int) -> CInt
            _ = unsafeBitCast(found, to: Trim.self)(0)
        #endif
    }

    /// The memory that this process has, shared libraries included; nil where the system does not tell.
    private static var residentBytes: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else {
            return nil
        }
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return pages.map { $0 * Int(getpagesize()) }
    }
}
