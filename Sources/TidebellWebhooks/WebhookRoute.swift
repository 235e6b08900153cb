// SPDX-License-Identifier: Apache-2.0
package import Foundation
package import Logging
package import Metrics
import ServiceLifecycle
import Synchronization
package import TidebellCore
package import TidebellPush
package import TidebellScheduling

/// Posts the notifications of containers to the URLs that their operator named:
/// for code on other servers, and for other push services.
///
/// Each webhook has a cursor in the log of each user who has something for it. At least once, in
/// the order of each user's log; `webhook-id` marks repetitions. Users have no order among
/// themselves, and wait for nobody. An outage loses nothing that the log still keeps.
package final class WebhookRoute: PushRoute, Service {
    /// Returns what receivers get for a device, by its client ID and the record name of
    /// its user: who knows a client ID can register as that device.
    package typealias DeviceNaming =
        @Sendable (_ clientID: String, _ recordName: String) -> String

    let store: any Store
    let deviceID: DeviceNaming
    let poster: any WebhookPoster
    let clock: any Clock<Duration>
    let now: @Sendable () -> Instant
    /// Makes a number from 0 to 1 that spreads retries.
    let jitter: @Sendable () -> Double
    /// Makes what leases are known by.
    let makeUUID: @Sendable () -> UUID
    let journal: DeliveryJournal
    let configuration: WebhookConfiguration
    let metrics: WebhookMetrics
    let logger: Logger
    private let wakes = Mutex<[WebhookID: WakeSignal]>([:])

    /// Creates a route; ``run()`` starts it.
    package init(
        store: any Store,
        naming deviceID: @escaping DeviceNaming,
        poster: any WebhookPoster = HTTPWebhookPoster(),
        clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Instant,
        jitter: @escaping @Sendable () -> Double,
        makeUUID: @escaping @Sendable () -> UUID,
        journal: DeliveryJournal,
        configuration: WebhookConfiguration = WebhookConfiguration(),
        metrics: WebhookMetrics = WebhookMetrics(),
        logger: Logger
    ) {
        self.store = store
        self.deviceID = deviceID
        self.poster = poster
        self.clock = clock
        self.now = now
        self.jitter = jitter
        self.makeUUID = makeUUID
        self.journal = journal
        self.configuration = configuration
        self.metrics = metrics
        self.logger = logger
    }

    package func publish(
        _ notifications: [StoredNotification], after ends: [UserID: NotificationSequence]
    ) {
        wakeAll()
    }

    /// What another process published may be for a user whose lease this one has.
    package func lookAgain(for users: Set<UserID>?) { wakeAll() }

    /// Runs until the task is cancelled or the service group shuts down; what was
    /// under way then is posted again after the next start.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                while !Task.isCancelled {
                    await self.startNewOnes(in: &group)
                    // Sleeping fails by cancellation only, which is the end.
                    try? await self.clock.sleep(for: self.configuration.pollInterval)
                    self.wakeAll()
                }
            }
        }
    }

    private func wakeAll() {
        for wake in wakes.withLock({ Array($0.values) }) { wake.raise() }
    }

    private func startNewOnes(in group: inout DiscardingTaskGroup) async {
        let webhooks: [StoredWebhook]
        do {
            webhooks = try await store.read { try $0.webhooks() }
        } catch {
            // The next round asks again.
            return logger.debug("webhooks cannot be read", metadata: ["error": "\(error)"])
        }
        for webhook in webhooks where webhook.disabledReason == nil {
            let wake = WakeSignal()
            let isNew = wakes.withLock { wakes in
                guard wakes[webhook.id] == nil else { return false }
                wakes[webhook.id] = wake
                return true
            }
            if isNew { group.addTask { await self.deliver(webhook.id, wake) } }
        }
    }

    private func deliver(_ id: WebhookID, _ wake: WakeSignal) async {
        do {
            try await WebhookDelivery(route: self, id: id, wake: wake).run()
        } catch {
            // The next round starts it anew, from the position it has stored.
            if !Task.isCancelled {
                logger.warning(
                    "a webhook was interrupted by the store and is started again",
                    metadata: ["webhook": "\(id.rawValue)", "error": "\(error)"]
                )
            }
        }
        wakes.withLock { $0[id] = nil }
    }
}

/// What the webhooks count.
package struct WebhookMetrics: Sendable {
    /// Notifications that a receiver took.
    let deliveries: Counter
    /// Tries that failed.
    let failures: Counter

    /// Creates the counters in a metrics backend.
    package init(factory: any MetricsFactory = MetricsSystem.factory) {
        let dimensions = [("route", "webhook")]
        deliveries = Counter(
            label: "tidebell.push.deliveries", dimensions: dimensions, factory: factory
        )
        failures = Counter(
            label: "tidebell.push.tries.failed", dimensions: dimensions, factory: factory
        )
    }
}
