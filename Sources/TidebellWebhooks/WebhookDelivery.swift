// SPDX-License-Identifier: Apache-2.0
import Logging
import TidebellCore
import TidebellPush
import TidebellScheduling
import Metrics

/// Delivers the notifications of one webhook, for as long as it is enabled.
///
/// The queue decides, this acts.
struct WebhookDelivery: Sendable {
    private typealias Answered = (sequence: NotificationSequence, outcome: WebhookOutcome)

    let route: WebhookRoute
    let id: WebhookID
    /// Raised when the log may have more.
    let wake: WakeSignal

    /// Runs until the webhook is removed or disabled, or the task is cancelled;
    /// fails with the store's error.
    func run() async throws {
        guard let webhook = try await enabledWebhook() else { return }
        var queue = WebhookQueue(after: webhook.delivered, route.configuration)
        var cursor = SavedCursor(saved: webhook.delivered)
        try await withThrowingTaskGroup(of: Answered.self) { group in
            defer { group.cancelAll() }
            while !Task.isCancelled {
                switch queue.next() {
                case .post(let item, let delay):
                    cursor.hasPosted = true
                    group.addTask {
                        // Sleeping fails by cancellation only, which ends the post as well.
                        if delay > .zero { try? await route.clock.sleep(for: delay) }
                        return (item.notification.sequence, await post(item, webhook))
                    }
                case .receive:
                    guard let (sequence, outcome) = try await group.next() else { continue }
                    guard try await take(sequence, outcome, into: &queue) else { return }
                case .read(let position):
                    try await save(queue.delivered, &cursor)
                    guard try await read(after: position, into: &queue) else { return }
                case .rest(let delay):
                    try await save(queue.delivered, &cursor)
                    try await route.clock.sleep(for: delay)
                    queue.rested()
                case .idle:
                    try await save(queue.delivered, &cursor)
                    guard await wake.wait() else { return }
                    queue.woke()
                }
            }
        }
    }

    /// The webhook as it is stored now; nil when nothing is to be posted any more.
    ///
    /// A position beyond the log, as damage may leave it, counts as its end.
    private func enabledWebhook() async throws -> StoredWebhook? {
        let id = id
        return try await route.store.read { reader in
            guard var webhook = try reader.webhook(id), webhook.disabledReason == nil else {
                return nil
            }
            webhook.delivered = min(max(webhook.delivered, .start), try reader.notificationHead())
            return webhook
        }
    }

    /// Reads the next page; false when the webhook is gone.
    private func read(
        after position: NotificationSequence, into queue: inout WebhookQueue
    ) async throws -> Bool {
        let (id, bounds, deviceID) = (id, route.configuration, route.deviceID)
        let now = route.now()
        let page = try await route.store.read { reader -> WebhookPage? in
            guard let webhook = try reader.webhook(id), webhook.disabledReason == nil else {
                return nil
            }
            return try WebhookPage(
                of: webhook, after: position, from: reader, at: now, bounds, naming: deviceID
            )
        }
        guard let page else { return false }
        queue.take(page.items, upTo: page.end, isLast: page.isLast)
        return true
    }

    /// Makes the position in the log durable, unless nothing was posted since and it
    /// is near: passing over the pushes of other containers is quickly done again.
    private func save(
        _ delivered: NotificationSequence, _ cursor: inout SavedCursor
    ) async throws {
        let distance = delivered.rawValue - cursor.saved.rawValue
        guard distance >= (cursor.hasPosted ? 1 : route.configuration.sequencesPerRead) else {
            return
        }
        let id = id
        try await route.store.write(.batch) { try $0.advanceWebhook(id, upTo: delivered) }
        cursor = SavedCursor(saved: delivered)
    }

    /// Posts once and notes what came of it; never fails.
    private func post(_ item: WebhookItem, _ webhook: StoredWebhook) async -> WebhookOutcome {
        let message = WebhookMessage(item, for: webhook, at: route.now())
        let outcome: WebhookOutcome
        let text: String
        do {
            let answer = try await route.poster.post(
                message, to: webhook.url, within: route.configuration.requestTimeout
            )
            outcome = answer.outcome(at: route.now())
            text = "\(answer.status)"
        } catch {
            outcome = .failed(retryAfter: nil)
            text = "\(error)"
        }
        route.journal.record(
            Delivery(
                notification: item.notification.sequence, user: item.notification.user,
                clientID: nil, route: .webhook, at: route.now(), answer: text
            )
        )
        if outcome == .delivered {
            route.metrics.deliveries.increment()
        } else {
            route.metrics.failures.increment()
        }
        return outcome
    }

    /// Takes an outcome; false when the webhook is disabled by it.
    private func take(
        _ sequence: NotificationSequence, _ outcome: WebhookOutcome,
        into queue: inout WebhookQueue
    ) async throws -> Bool {
        let event = queue.finished(sequence, outcome, jitter: route.jitter())
        report(event, sequence)
        guard outcome == .gone else { return true }
        let (id, delivered) = (id, queue.delivered)
        try await route.store.write(.batch) { transaction in
            try transaction.advanceWebhook(id, upTo: delivered)
            try transaction.setWebhook(id, disabledBecause: "the receiver answered 410 Gone")
        }
        route.logger.warning(
            "a webhook was disabled: its receiver answered 410 Gone", metadata: metadata
        )
        return false
    }

    private func report(_ event: WebhookQueue.Event, _ sequence: NotificationSequence) {
        switch event {
        case .none: return
        case .startedToFail:
            // Once, not at every try: the next news is that it works again.
            route.logger.warning(
                "a webhook fails; its pushes wait in the log and are tried again",
                metadata: metadata
            )
        case .recovered: route.logger.notice("a webhook works again", metadata: metadata)
        case .skipped:
            var metadata = metadata
            metadata["sequence"] = "\(sequence.rawValue)"
            route.logger.error(
                "a webhook's receiver refuses a push; it was skipped", metadata: metadata
            )
        }
    }

    private var metadata: Logger.Metadata { ["webhook": "\(id.rawValue)"] }
}

/// The durable position in the log.
private struct SavedCursor {
    var saved: NotificationSequence
    /// Whether something was posted since.
    var hasPosted = false
}

/// A part of the log as a webhook needs it.
private struct WebhookPage: Sendable {
    var items: [WebhookItem]
    /// Everything of the container up to here is in `items`.
    var end: NotificationSequence
    /// Whether `end` is the end of the log.
    var isLast: Bool

    init(
        of webhook: StoredWebhook, after position: NotificationSequence,
        from reader: some NotificationLogReading & UserReading & PushTokenReading,
        at now: Instant, _ bounds: WebhookConfiguration,
        naming deviceID: WebhookRoute.DeviceNaming
    ) throws {
        let head = try reader.notificationHead()
        let last = min(
            head, NotificationSequence(rawValue: position.rawValue + bounds.sequencesPerRead)
        )
        let limit = bounds.notificationsPerPage
        let notifications = try reader.notifications(
            of: webhook.container, after: position, upTo: last, limit: limit
        )
        if let newest = notifications.last, notifications.count >= limit {
            end = newest.sequence
        } else {
            end = last
        }
        isLast = end >= head
        let ids = Set(notifications.map(\.user))
        let users = try reader.users(ids)
        let devices = Dictionary(
            grouping: try reader.devicesWithTokens(of: ids, at: now), by: \.user)
        items = notifications.compactMap { notification in
            users[notification.user].map { user in
                var notification = notification
                notification.originClient = notification.originClient.map {
                    deviceID($0, user.recordName)
                }
                return WebhookItem(
                    notification: notification, user: user.recordName,
                    devices: (devices[notification.user] ?? []).map { device in
                        var device = device
                        device.clientID = deviceID(device.clientID, user.recordName)
                        return device
                    }
                )
            }
        }
    }
}
