// SPDX-License-Identifier: Apache-2.0
import Logging
import Metrics
import TidebellCore
import TidebellPush
import TidebellScheduling

/// Delivers the notifications of one webhook, for as long as it is enabled.
///
/// The queue decides, this acts.
struct WebhookDelivery: Sendable {
    /// What a task that was under way came to.
    private enum Done: Sendable {
        case read(DeliveryLease, WebhookPage?)
        case posted(DeliveryLease, NotificationSequence, WebhookOutcome)
        case ended(DeliveryLease, hasMore: Bool)
        /// There may be more users.
        case woke
        /// The first of those who are postponed may be claimed.
        case vested
    }

    let route: WebhookRoute
    let id: WebhookID
    /// Raised when the log may have more.
    let wake: WakeSignal

    /// Runs until the webhook is removed or disabled, or the task is cancelled;
    /// fails with the store's error.
    func run() async throws {
        guard let webhook = try await enabledWebhook() else { return }
        var queue = WebhookQueue(route.configuration)
        let result: Result<Void, any Error>
        do {
            result = .success(try await deliver(for: webhook, &queue))
        } catch {
            result = .failure(error)
        }
        // What was delivered since the cursor moved last is delivered again.
        try? await route.store.returnDeliveries(
            queue.leases.map { ReturnedLease($0, .untouched) }
        )
        try result.get()
    }

    private func deliver(for webhook: StoredWebhook, _ queue: inout WebhookQueue) async throws {
        /// When those who are postponed are looked for.
        var alarm: Instant?
        var deadlines: [DeliveryPointer: Instant] = [:]
        try await withThrowingTaskGroup(of: Done.self) { group in
            defer { group.cancelAll() }
            func watch() {
                group.addTask {
                    _ = await wake.wait()
                    return .woke
                }
            }
            watch()
            while !Task.isCancelled {
                switch queue.next() {
                case .claim(let count):
                    let now = route.now()
                    let claimed = try await claim(count, at: now)
                    if claimed.leases.isEmpty, try await enabledWebhook() == nil { return }
                    if let vesting = claimed.nextVesting, alarm.map({ vesting < $0 }) ?? true {
                        alarm = vesting
                        let wait = Duration.milliseconds(max(1, vesting.rawValue - now.rawValue))
                        group.addTask {
                            try await route.clock.sleep(for: wait)
                            return .vested
                        }
                    }
                    queue.claimed(claimed.leases, of: count)
                    let deadline = now.advanced(by: route.configuration.leaseDuration)
                    for lease in claimed.leases { deadlines[lease.key] = deadline }
                case .read(let lease):
                    group.addTask { .read(lease, try await page(of: lease)) }
                case .post(let item, let lease, let delay):
                    group.addTask {
                        // Sleeping fails by cancellation only, which ends the post as well.
                        if delay > .zero { try? await route.clock.sleep(for: delay) }
                        let sequence = item.notification.sequence
                        return .posted(lease, sequence, await post(item, webhook))
                    }
                case .end(let lease, let sequence, let ending):
                    deadlines[lease.key] = nil
                    group.addTask { try await end(lease, upTo: sequence, ending) }
                case .receive:
                    guard let done = try await group.next() else { continue }
                    if case .woke = done { watch() }
                    if case .vested = done { alarm = nil }
                    guard try await take(done, of: webhook, deadlines, into: &queue) else { return }
                case .rest(let delay):
                    try await route.clock.sleep(for: delay)
                    queue.rested()
                }
            }
        }
    }

    /// The webhook as it is stored now; nil when nothing is to be posted any more.
    private func enabledWebhook() async throws -> StoredWebhook? {
        let id = id
        return try await route.store.read { try $0.enabledWebhook(id) }
    }

    private func claim(_ count: Int, at now: Instant) async throws -> ClaimedLeases<DeliveryPointer>
    {
        let configuration = route.configuration
        return try await route.store.claimDeliveries(
            LeaseClaim(
                holder: LeaseHolder(rawValue: route.makeUUID()), now: now,
                // What is posted last may take as long as a receiver has.
                vestingAt: now.advanced(
                    by: configuration.leaseDuration + configuration.requestTimeout),
                limit: count
            ),
            in: .webhook(id)
        )
    }

    /// Reads the next page of a user's log; nil when the webhook is gone.
    private func page(of lease: DeliveryLease) async throws -> WebhookPage? {
        guard case .webhook(_, let user) = lease.key else { return nil }
        let (id, limit, deviceID) = (id, route.configuration.notificationsPerPage, route.deviceID)
        let now = route.now()
        return try await route.store.read { reader in
            guard try reader.enabledWebhook(id) != nil else { return nil }
            return try WebhookPage(
                of: user, for: id, from: reader, at: now, limit: limit, naming: deviceID
            )
        }
    }

    /// Moves the cursor in a user's log, and gives the lease back. Who lost the lease moves it no
    /// further than they delivered, and never back.
    private func end(
        _ lease: DeliveryLease, upTo sequence: NotificationSequence?, _ ending: WebhookQueue.Ending
    ) async throws -> Done {
        // Whose turn brought nothing still waits; when who is postponed may be claimed is found out
        // by a claim.
        var hasMore = ending != .delivered
        if sequence != nil || ending == .failed, case .webhook(let id, let user) = lease.key {
            let isLeft = try await route.store.write(.user(user)) { transaction in
                guard let cursor = try transaction.webhookCursor(id, of: user) else { return false }
                try transaction.advanceWebhook(id, of: user, upTo: sequence ?? cursor)
                return try transaction.webhookCursor(id, of: user) != nil
            }
            hasMore = hasMore || isLeft
        }
        let outcome: LeaseOutcome =
            switch ending {
            case .delivered: .done
            case .untouched, .failed: .untouched
            case .postponed(let wait): .failed(vestingAt: route.now().advanced(by: wait))
            }
        try await route.store.returnDeliveries([ReturnedLease(lease, outcome)])
        return .ended(lease, hasMore: hasMore)
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

    /// Takes what a task came to; false when the webhook is gone, or disabled by it.
    private func take(
        _ done: Done, of webhook: StoredWebhook, _ deadlines: [DeliveryPointer: Instant],
        into queue: inout WebhookQueue
    ) async throws -> Bool {
        switch done {
        case .woke, .vested: queue.woke()
        case .read(_, nil): return false
        case .read(let lease, let page?): queue.read(lease, page.items, upTo: page.end)
        case .ended(let lease, let hasMore): queue.ended(lease, hasMore: hasMore)
        case .posted(let lease, let sequence, let outcome):
            let isOld = deadlines[lease.key].map { $0 <= route.now() } ?? true
            let event = queue.finished(lease, outcome, isOld: isOld, jitter: route.jitter())
            report(event, sequence)
            if outcome == .gone {
                try await disable(webhook, &queue)
                return false
            }
        }
        return true
    }

    /// Disables the webhook, whose receiver is gone, where each user's log was delivered up to.
    private func disable(
        _ webhook: StoredWebhook, _ queue: inout WebhookQueue
    ) async throws {
        for (lease, sequence) in queue.unsaved {
            _ = try await end(lease, upTo: sequence, .delivered)
        }
        let id = id
        try await route.store.write(.catalogue(webhook.container)) {
            try $0.setWebhook(id, disabledBecause: "the receiver answered 410 Gone")
        }
        route.logger.warning(
            "a webhook was disabled: its receiver answered 410 Gone", metadata: metadata
        )
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
        case .postponed:
            route.logger.warning(
                "a webhook's receiver fails the pushes of one user; they wait and are tried again",
                metadata: metadata
            )
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

extension WebhookReading {
    /// Returns a webhook unless it was removed or disabled.
    fileprivate func enabledWebhook(_ id: WebhookID) throws -> StoredWebhook? {
        try webhook(id).flatMap { $0.disabledReason == nil ? $0 : nil }
    }
}

/// A part of a user's log as a webhook needs it.
private struct WebhookPage: Sendable {
    var items: [WebhookItem] = []
    /// Everything of the user up to here is delivered, or in `items`.
    var end = NotificationSequence.start

    init(
        of userID: UserID, for webhook: WebhookID,
        from reader: some NotificationLogReading & UserReading & PushTokenReading & WebhookReading,
        at now: Instant, limit: Int, naming deviceID: WebhookRoute.DeviceNaming
    ) throws {
        guard let cursor = try reader.webhookCursor(webhook, of: userID) else { return }
        let notifications = try reader.notifications(
            for: userID, after: cursor, excludingOrigin: nil, limit: limit
        )
        end = notifications.last?.sequence ?? cursor
        guard let user = try reader.users([userID])[userID] else { return }
        let devices = try reader.devicesWithTokens(of: [userID], at: now).map { device in
            var device = device
            device.clientID = deviceID(device.clientID, user.recordName)
            return device
        }
        items = notifications.map { notification in
            var notification = notification
            notification.originClient = notification.originClient.map {
                deviceID($0, user.recordName)
            }
            return WebhookItem(
                notification: notification, user: user.recordName, devices: devices
            )
        }
    }
}
