// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Synchronization

/// The registrations of one device, by container.
final class Registrations: Sendable {
    private struct Entry {
        var registration: CKRemoteNotificationRegistration
        var start: Int64
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// The notification after which the device receives pushes, by container.
    var starts: [String: Int64] { entries.withLock { $0.mapValues(\.start) } }

    /// Whether the device is registered for a container.
    func contains(_ container: String) -> Bool {
        entries.withLock { $0[container] != nil }
    }

    /// Adds a registration.
    func add(
        _ registration: CKRemoteNotificationRegistration,
        for container: String,
        since start: Int64
    ) {
        entries.withLock { $0[container] = Entry(registration: registration, start: start) }
    }

    /// Ends all registrations.
    func cancelAll() {
        let ended = entries.withLock { entries in
            defer { entries = [:] }
            return entries.values
        }
        for entry in ended { entry.registration.cancel() }
    }
}
