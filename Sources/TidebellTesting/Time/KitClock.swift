// SPDX-License-Identifier: Apache-2.0
import TidebellScheduling

/// The clock of a test as the server and the devices sleep on it: so that it is known who sleeps, and
/// whether somebody waits for that.
struct KitClock: Clock {
    typealias Instant = ManualClock.Instant

    let clock: ManualClock
    /// The ID of the device; nil for the server.
    let device: String?

    var now: Instant { clock.now }
    var minimumResolution: Duration { clock.minimumResolution }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await clock.sleep(until: deadline, as: kind)
    }

    private var kind: ManualClock.SleepKind {
        if let purpose = AwaitedSleep.purpose {
            return .awaited(ManualClock.Awaited(device: device, purpose: purpose))
        }
        if let device, let container = AwaitedSleep.connection {
            return .reconnecting(ManualClock.Connection(device: device, container: container))
        }
        return .background
    }
}
