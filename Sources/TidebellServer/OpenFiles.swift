// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellHTTP

/// The files this process may have open, of which each connection is one.
package enum OpenFiles {
    /// Files kept for everything that is no connection: the store, the log, and those that
    /// come or go.
    private static let reserve = 64 + rlim_t(Cloud.transferCapacity)
    /// The most connections, even where the system sets no limit.
    private static let mostConnections: rlim_t = 1_000_000

    /// Raises the limit of open files as far as the system lets it.
    package static func raiseLimit() {
        guard var limit = current() else { return }
        limit.rlim_cur = limit.rlim_max
        // A system that refuses leaves the limit as it was, which
        // `connections` respects.
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// The connections that fit below the limit. More would not fail, but hang
    /// unaccepted.
    package static func connections() -> Int {
        let most = current()?.rlim_cur ?? 1024
        return Int(min(most > reserve * 2 ? most - reserve : most / 2, mostConnections))
    }

    private static func current() -> rlimit? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return nil
        }
        return limit
    }
}
