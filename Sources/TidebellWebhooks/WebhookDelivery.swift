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
        case read(DeliveryPointer, WebhookPage?)
        case posted(DeliveryPointer, NotificationSequence, WebhookOutcome)
        /// The turns, and those of their users who have nothing more.
        case saved([WebhookQueue.Turn], done: Set<DeliveryPointer>)
        /// There may be more users.
        case woke
        /// Those may be claimed who were postponed until this moment.
        case vested(Instant)
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
        do {
            // Before others may claim the users: they would deliver it again.
            _ = try await save(queue.unsaved)
        } catch {
            // Where progress cannot be saved, others need not wait for the leases to vest.
            try? await giveBack(queue.unsaved)
        }
        try result.get()
    }

    private func deliver(for webhook: StoredWebhook, _ queue: inout WebhookQueue) async throws {
        try await withThrowingTaskGroup(of: Done.self) { group in
            let result: Result<Void, any Error>
            do {
                result = .success(try await deliver(for: webhook, &queue, in: &group))
            } catch {
                result = .failure(error)
            }
            group.cancelAll()
            // What was answered meanwhile counts, and what is being saved need not be once more.
            while let next = await group.nextResult() {
                switch next {
                case .success(.posted(let user, _, .delivered)):
                    _ = queue.finished(user, .delivered, after: .zero, jitter: 0)
                case .success(.saved(let turns, let done)): queue.saved(turns, done: done)
                case .success, .failure: break
                }
            }
            try result.get()
        }
    }

    private func deliver(
        for webhook: StoredWebhook, _ queue: inout WebhookQueue,
        in group: inout ThrowingTaskGroup<Done, any Error>
    ) async throws {
        /// When users were claimed whose turns are not over.
        var beginnings: [DeliveryPointer: Instant] = [:]
        /// When those who are postponed are looked for.
        var alarms: Set<Instant> = []
        func watch(in group: inout ThrowingTaskGroup<Done, any Error>) {
            group.addTask {
                _ = await wake.wait()
                return .woke
            }
        }
        watch(in: &group)
        while !Task.isCancelled {
            switch queue.next() {
            case .claim(let count):
                let now = route.now()
                let claimed = try await claim(count, at: now)
                if claimed.leases.isEmpty, try await enabledWebhook() == nil { return }
                // A later one is armed when the earlier ones have gone off.
                if let vesting = claimed.nextVesting, alarms.allSatisfy({ vesting < $0 }) {
                    alarms.insert(vesting)
                    let wait = Duration.milliseconds(max(1, vesting.rawValue - now.rawValue))
                    group.addTask {
                        try await route.clock.sleep(for: wait)
                        return .vested(vesting)
                    }
                }
                queue.claimed(claimed.leases, of: count)
                for lease in claimed.leases { beginnings[lease.key] = now }
            case .read(let lease):
                group.addTask { .read(lease.key, try await page(of: lease)) }
            case .post(let item, let lease, let delay):
                group.addTask {
                    // Sleeping fails by cancellation only, which ends the post as well.
                    if delay > .zero { try? await route.clock.sleep(for: delay) }
                    let sequence = item.notification.sequence
                    return .posted(lease.key, sequence, await post(item, webhook))
                }
            case .save(let turns):
                for turn in turns { beginnings[turn.lease.key] = nil }
                group.addTask { .saved(turns, done: try await save(turns)) }
            case .receive:
                guard let done = try await group.next() else { continue }
                if case .woke = done { watch(in: &group) }
                if case .vested(let moment) = done { alarms.remove(moment) }
                guard try await take(done, of: webhook, beginnings, into: &queue) else { return }
            case .rest(let delay):
                try await route.clock.sleep(for: delay)
                queue.rested()
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

    /// Moves the cursors in the logs of users, and gives their leases back; returns those users
    /// who have nothing more. Who lost a lease moves the cursor no further than they delivered,
    /// and never back.
    private func save(_ turns: [WebhookQueue.Turn]) async throws -> Set<DeliveryPointer> {
        var cursors: [UserID: NotificationSequence] = [:]
        for turn in turns where turn.delivered != nil || turn.ending == .failed {
            guard case .webhook(_, let user) = turn.lease.key else { continue }
            cursors[user] = turn.delivered ?? .start
        }
        let written = await route.store.write(ofEach: Set(cursors.keys)) {
            [id, cursors] users, transaction in
            try transaction.advanceWebhook(id, to: cursors.filter { users.contains($0.key) })
        }
        if let error = written.failed.values.first, written.failed.count == cursors.count {
            throw error
        }
        let waiting = written.done.reduce(into: Set(written.failed.keys)) { $0.formUnion($1) }
        // Whose cursor could not be moved stays claimed until the lease ends: others go on.
        try await giveBack(
            turns.filter { turn in
                guard case .webhook(_, let user) = turn.lease.key else { return true }
                return written.failed[user] == nil
            })
        // Whose turn brought nothing still waits; when who is postponed may be claimed is found out
        // by a claim.
        return Set(
            turns.filter { turn in
                guard case .webhook(_, let user) = turn.lease.key else { return true }
                return turn.ending == .delivered && !waiting.contains(user)
            }.map(\.lease.key)
        )
    }

    private func giveBack(_ turns: [WebhookQueue.Turn]) async throws {
        guard !turns.isEmpty else { return }
        let now = route.now()
        try await route.store.returnDeliveries(
            turns.map { turn in
                var lease = turn.lease
                if turn.delivered != nil { lease.failures = 0 }
                return switch turn.ending {
                case .delivered: ReturnedLease(lease, .done)
                case .untouched, .failed: ReturnedLease(lease, .untouched)
                case .postponed(let wait):
                    ReturnedLease(lease, .failed(vestingAt: now.advanced(by: wait)))
                }
            }
        )
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
            outcome = .unreachable
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
        _ done: Done, of webhook: StoredWebhook, _ beginnings: [DeliveryPointer: Instant],
        into queue: inout WebhookQueue
    ) async throws -> Bool {
        switch done {
        case .woke, .vested: queue.woke()
        case .read(_, nil): return false
        case .read(let user, let page?): queue.read(user, page.items, upTo: page.end)
        case .saved(let turns, let done): queue.saved(turns, done: done)
        case .posted(let user, let sequence, let outcome):
            let age = beginnings[user].map {
                Duration.milliseconds(route.now().rawValue - $0.rawValue)
            }
            let event = queue.finished(
                user, outcome, after: age ?? route.configuration.leaseDuration,
                jitter: route.jitter()
            )
            report(event, sequence)
            if outcome == .gone {
                try await disable(webhook)
                return false
            }
        }
        return true
    }

    /// Disables the webhook, whose receiver is gone.
    private func disable(_ webhook: StoredWebhook) async throws {
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
