// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import Synchronization
import TidebellScheduling

/// The user defaults of one device, made when they are first asked for, which end with it.
final class DeviceDefaults: Sendable {
    private let suite = "tidebell-test-\(Randomness.system.makeUUID())"
    private let made = Mutex<Made?>(nil)

    private struct Made: @unchecked Sendable {
        // Sendable: user defaults may be used by any thread.
        let defaults: UserDefaults
    }

    /// The defaults.
    var defaults: UserDefaults {
        made.withLock { made in
            if let made { return made }
            guard let defaults = UserDefaults(suiteName: suite) else {
                preconditionFailure("a suite of this name is neither the app's nor the global one")
            }
            let new = Made(defaults: defaults)
            made = new
            return new
        }.defaults
    }

    deinit {
        guard let made = made.withLock({ $0 }) else { return }
        made.defaults.removePersistentDomain(forName: suite)
        // Where `synchronize()` was called, Foundation has written a file, and leaves it.
        let file = FileManager.default.homeDirectoryForCurrentUser
            .appendingPathComponent(".config/\(suite).plist")
        try? FileManager.default.removeItem(at: file)
    }
}
