// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What runs beside the attempts of a sync engine.
struct SyncBackground: Sendable {
    /// Follows the schedule, and listens.
    var tasks: [Task<Void, Never>] = []
    /// Whether all of it has ended.
    private(set) var hasEnded = false
    /// The stream of pushes.
    var registration: CKRemoteNotificationRegistration?
    /// Whose pushes they are.
    var listener: AccountPin?
    /// Receives changes of the account.
    nonisolated(unsafe) var observer: (any NSObjectProtocol)?
    // Unsafe: only handed back to the notification centre, which any thread may do.

    /// Ends all of it.
    mutating func end() {
        for task in tasks { task.cancel() }
        registration?.cancel()
        if let observer { NotificationCenter.default.removeObserver(observer) }
        self = SyncBackground()
        hasEnded = true
    }
}

// What the engine does by itself (SYNC-5).
extension SyncEngineCore {
    /// Begins to follow the schedule by itself.
    func beginSchedule() {
        // The first fetch comes once the stream reports the changes that follow.
        want(.send)
        // They live as long as the engine, which no task can wait for.
        let tasks = [Task { await self.runSchedule() }, Task { await self.keepListening() }]
        background.withLock { $0.tasks = tasks }
    }

    /// Has work done soon, if the engine syncs by itself.
    func want(_ work: SyncSchedule.Work) {
        guard automaticallySync else { return }
        schedule.withLock { $0.want(work) }
        wake.raise()
    }

    /// Fetches soon what another part of the app did to shares, if the engine syncs by itself.
    ///
    /// - Parameter zoneIDs: Zones of the shared database in which a share was saved. The server puts
    ///   them into the history of that database only after it has answered.
    func noteSharingChange(in zoneIDs: Set<CKRecordZone.ID>) {
        guard automaticallySync else { return }
        guard !zoneIDs.isEmpty else { return want(.fetch) }
        // The delegate is told of the state, which nobody waits for here.
        Task { [weak self] in
            guard let self else { return }
            await change { state in
                for zoneID in zoneIDs { state.noteChanges(in: zoneID) }
            }
            want(.fetch)
        }
    }

    /// Has a wait for the network end: something came through.
    func noteNetwork() {
        schedule.withLock { $0.networkReturned() }
        wake.raise()
    }

    private func runSchedule() async {
        while !Task.isCancelled {
            switch schedule.withLock({ $0.next(at: elapsed()) }) {
            // Being cancelled ends the loop.
            case .idle: _ = await wake.wait()
            case .wait(let delay):
                await wake.wait(atMost: delay, on: container.session.clock)
            case .run(let work):
                let error = await run(work)
                let jitter = container.session.jitter()
                schedule.withLock { schedule in
                    // Asked inside: a sign-in that comes later is reported to the schedule.
                    schedule.ended(
                        work, error, at: elapsed(), isSignedOut: hasSignedOut, jitter: jitter
                    )
                }
            }
        }
    }

    private func run(_ work: SyncSchedule.Work) async -> CKError? {
        do throws(CKError) {
            switch work {
            case .fetch: try await fetch(FetchContext(reason: .scheduled, options: .init()))
            case .send:
                guard hasSomethingToSend else { return nil }
                try await send(SendContext(reason: .scheduled, options: .init()))
            }
            return nil
        } catch {
            return error
        }
    }

    private var hasSomethingToSend: Bool {
        let state = state.values
        return !state.pendingRecords.isEmpty || !state.pendingZones.isEmpty
            || state.hasPendingUntrackedChanges
    }
}

// MARK: - Pushes

extension SyncEngineCore {
    /// The ID of the subscription that engines of all devices share (SUB-67).
    static let ownSubscriptionID = "cloudkit-sync-engine"

    /// Listens to pushes, again whenever the stream has ended (SYNC-7).
    ///
    /// As long as it cannot, the engine looks for changes itself, each time it tries.
    private func keepListening() async {
        var retries = ReconnectSchedule()
        while !Task.isCancelled {
            let failure = await listenOnce()
            guard !Task.isCancelled else { return }
            want(.fetch)
            guard let failure else {
                retries = ReconnectSchedule()
                continue
            }
            if failure.code == .notAuthenticated, hasSignedOut {
                _ = await accountWake.wait()
                continue
            }
            let delay = retries.delay(
                retryAfter: failure.retryAfterSeconds,
                jitter: container.session.jitter()
            )
            // Only being cancelled ends a sleep early, and that ends the loop.
            try? await container.session.clock.sleep(for: delay)
        }
    }

    /// Listens until that ends; returns why it did, nil when the account changed.
    private func listenOnce() async -> CKError? {
        do throws(CKError) {
            let registration = try await listen()
            await registration.waitUntilEnded()
            isAccountKnown = false
            return registration.failure
        } catch {
            return error
        }
    }

    /// Makes sure that changes are pushed, and begins to listen (SYNC-6).
    private func listen() async throws(CKError) -> CKRemoteNotificationRegistration {
        try await attempt("listen") { () async throws(CKError) in
            try await self.ensureAccount()
            try await self.ensureSubscription()
        }
        let receiver = try NotificationReceiver(container, for: .syncEngine) { [weak self] push in
            await self?.receive(push)
        }
        let registration = try await CKRemoteNotificationRegistration.start(receiver) {
            [weak self] in
            self?.noteNetwork()
            // What was pushed while the stream was down may be more than the server keeps.
            self?.want(.fetch)
        }
        let listener = account
        let hasEnded = background.withLock { background in
            background.registration = registration
            background.listener = listener
            return background.hasEnded
        }
        // Another user may have come meanwhile, who needs a subscription of their own.
        if hasEnded || listener != container.accountPin { registration.cancel() }
        return registration
    }

    /// Has listening begin anew when it is for another user than the present one.
    func checkListener() {
        background.withLock { background in
            guard background.listener != container.accountPin else { return }
            background.registration?.cancel()
        }
    }

    /// Notes which zone a push is about, and fetches soon.
    private func receive(_ push: [AnyHashable: Any]) async {
        let notification = CKNotification(fromRemoteNotificationDictionary: push)
        guard let notification = notification as? CKDatabaseNotification,
            notification.databaseScope == database.databaseScope
        else { return }
        if let zoneID = notification.content.zoneID,
            !state.zoneIDsWithUnfetchedServerChanges.contains(zoneID)
        {
            await change { $0.noteChanges(in: zoneID) }
        }
        want(.fetch)
    }

    /// Finds the database subscription to use, or saves one (SUB-67); saving mends its own where
    /// the server cannot read that any more.
    private func ensureSubscription() async throws(CKError) {
        let subscriptions = try await SyncRequests.failing {
            try await database.readableSubscriptions()
        }
        let known = subscriptions.compactMap { $0 as? CKDatabaseSubscription }
            .filter { $0.recordType == nil }.map(\.subscriptionID)
        let wanted = wantedSubscriptionID ?? state.values.subscriptionID
        if let id = known.first(where: { $0 == wanted }) {
            await useSubscription(id)
        } else if wantedSubscriptionID == nil, let id = known.first {
            await useSubscription(id)
        } else {
            let subscription = CKDatabaseSubscription(
                subscriptionID: wantedSubscriptionID ?? Self.ownSubscriptionID
            )
            let info = CKSubscription.NotificationInfo()
            info.shouldSendContentAvailable = true
            subscription.notificationInfo = info
            try await SyncRequests.failing { _ = try await database.save(subscription) }
            await useSubscription(subscription.subscriptionID)
        }
    }

    private func useSubscription(_ id: CKSubscription.ID) async {
        guard state.values.subscriptionID != id else { return }
        await change { $0.subscriptionID = id }
    }
}
