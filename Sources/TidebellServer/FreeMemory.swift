// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Memory that was used and is free, which the C library keeps for what comes next.
enum FreeMemory {
    /// Gives it back to the system where the C library is glibc, which keeps in an arena for each
    /// thread what a crowd needed once; takes some milliseconds.
    @Sendable static func giveBack() {
        #if os(Linux)
            // Looked up by name: Swift's module of glibc lacks it, and other libraries have none.
            guard let found = dlsym(nil, "malloc_trim") else { return }
            typealias Trim = @convention(c) (Int) -> CInt
            _ = unsafeBitCast(found, to: Trim.self)(0)
        #endif
    }
}
