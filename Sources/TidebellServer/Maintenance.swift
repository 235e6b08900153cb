// SPDX-License-Identifier: Apache-2.0
package import Logging
import ServiceLifecycle
import Synchronization
package import TidebellCore
package import TidebellHTTP
package import TidebellScheduling
import TidebellWire

/// Encrypts what older versions left in clear text, and removes what nobody needs any more:
/// every hour old tombstones and notifications (TOK-22, NOTIF-15) and files (ASSET-4), every
/// minute what is kept for explanations and of answers beyond its bounds, and sign-ins that nobody finished. Moves the moment of
/// retention, and notes which tokens were used.
package struct Maintenance: Service {
    /// Time between two looks at what is kept for explanations, and of answers.
    static let interval = Duration.seconds(60)
    /// How many of them make one round.
    static let intervalsPerRound = 60
    /// Rows removed by one transaction, so that writers never wait long.
    static let batchSize = 1000
    /// Transactions of one kind in one round; what is left waits for the next.
    static let batchesPerRound = 1000

    private let store: any Store
    private let assets: any AssetStore
    private let tokenUses: TokenUses
    private let queryUses: QueryUses
    private let rootKey: RootKey?
    private let limits: Limits
    private let time: Time
    private let retention: RetentionClock
    private let logger: Logger
    /// The steps whose failure was logged.
    private let failing = Failing()

    package init(
        store: any Store, assets: any AssetStore = NoAssetStore(), rootKey: RootKey? = nil,
        tokenUses: TokenUses = TokenUses(), queryUses: QueryUses = QueryUses(), limits: Limits,
        time: Time, logger: Logger
    ) {
        self.store = store
        self.assets = assets
        self.rootKey = rootKey
        self.tokenUses = tokenUses
        self.queryUses = queryUses
        self.limits = limits
        self.time = time
        retention = RetentionClock(time)
        self.logger = logger
    }

    /// Runs rounds until the service group shuts down.
    package func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                while true {
                    await round()
                    for _ in 1..<Self.intervalsPerRound {
                        try await time.clock.sleep(for: Self.interval)
                        await attempt("token uses") { try await storeTokenUses() }
                        await attempt("query uses") { try await storeQueryUses() }
                        // Notices, also when nobody writes, that trouble began or is over.
                        await attempt("probe") { try await store.probe() }
                        if store.isMaintainedHere { await smallRound() }
                    }
                    try await time.clock.sleep(for: Self.interval)
                }
            }
        } catch is CancellationError {
            // The end of every service.
        }
        // What ran and was used since the last look counts, however often a server is started anew.
        if store.isMaintainedHere {
            await attempt("retention") { _ = try await retention.moment(in: store) }
        }
        await attempt("token uses") { try await storeTokenUses() }
        await attempt("query uses") { try await storeQueryUses() }
    }

    /// Removes what is soon much.
    private func smallRound() async {
        await attempt("retention") {
            let now = try await retention.moment(in: store)
            await attempt("explanations") { _ = try await removeExplanations(at: now) }
            await attempt("answers") { _ = try await removeAnswers(at: now) }
        }
        await attempt("sign-ins") { try await removeSignIns() }
        await attempt("deleted zones") { _ = try await removeDeletedZones() }
    }

    /// Removes what is old enough now, each kind by itself: a failure is the operator's to
    /// see and the next round's to repeat, and stops no other kind.
    package func round() async {
        var removed: Logger.Metadata = [:]
        await attempt("tables") { try await store.inspect() }
        await attempt("token uses") { try await storeTokenUses() }
        await attempt("query uses") { try await storeQueryUses() }
        guard store.isMaintainedHere else { return }
        await attempt("sign-ins") { try await removeSignIns() }
        await attempt("deleted zones") { _ = try await removeDeletedZones() }
        await attempt("retention") {
            await removeAged(at: try await retention.moment(in: store), noting: &removed)
        }
        logger.debug("maintenance done", metadata: removed)
        await attempt("erasures") { try await eraseRemoved() }
        await attempt("encryption") { try await sealRecords() }
        await attempt("orphaned files") {
            let count = try await removeOrphanedFiles()
            logger.debug("orphaned files removed", metadata: ["files": "\(count)"])
        }
    }

    /// Removes what is older than it is kept for.
    private func removeAged(at now: Instant, noting removed: inout Logger.Metadata) async {
        await attempt("explanations") {
            removed["explanations"] = "\(try await removeExplanations(at: now))"
        }
        await attempt("answers") { _ = try await removeAnswers(at: now) }
        await attempt("tombstones") {
            let count = try await removeAll {
                try $0.removeTombstones(
                    modifiedBefore: now.advanced(by: .zero - limits.tombstoneRetention),
                    limit: Self.batchSize
                )
            }
            removed["tombstones"] = "\(count)"
        }
        await attempt("notifications") {
            let count = try await removeAll {
                try $0.removeNotifications(
                    createdBefore: now.advanced(by: .zero - limits.notificationRetention),
                    limit: Self.batchSize
                )
            }
            removed["notifications"] = "\(count)"
        }
        await attempt("notifications of users with very many") { try await trimNotifications() }
        await attempt("devices") {
            let count = try await removeAll {
                try $0.removeDevices(
                    unseenSince: now.advanced(by: .zero - limits.deviceRetention),
                    limit: Self.batchSize
                )
            }
            removed["devices"] = "\(count)"
        }
        await attempt("web tokens") {
            _ = try await removeAll {
                try $0.removeWebTokens(
                    expiredBefore: now.advanced(by: .zero - WebTokenRules.memory),
                    ofPagesBefore: now.advanced(by: .zero - WebTokenRules.pageMemory),
                    limit: Self.batchSize
                )
            }
        }
        await attempt("files") {
            removed["files"] = "\(try await removeUnusedAssets(at: now))"
        }
    }

    /// Removes the files that no record has held for long, and uploads that did not
    /// come (ASSET-4).
    ///
    /// The store forgets them first: what stops the process then leaves orphaned files, which
    /// go with a later round.
    private func removeUnusedAssets(at now: Instant) async throws -> Int {
        _ = try await removeAll {
            try $0.removeAwaitedUploads(expiredBefore: now, limit: Self.batchSize)
        }
        let moment = now.advanced(by: .zero - limits.assetGrace)
        var total = 0
        for _ in 0..<Self.batchesPerRound {
            // A save that names a file at the same time is another scope's, and perhaps another node's.
            let removed = try await store.write(.everything) {
                try $0.removeUnusedAssets(since: moment, limit: Self.batchSize)
            }
            try await assets.remove(removed.files)
            total += removed.files.count
            if removed.isComplete { break }
        }
        return total
    }

    /// Encrypts the fields that versions before 4 stored in clear text.
    private func sealRecords() async throws {
        guard let rootKey else { return }
        let count = try await removeAll(.everything) {
            try SealRecords.run(limit: Self.batchSize, with: rootKey, in: $0)
        }
        if count > 0 {
            logger.notice(
                "encrypted fields that an older version stored in clear text",
                metadata: ["records": "\(count)"]
            )
        }
    }

    /// Removes the files that a process left which was stopped between file and row.
    package func removeOrphanedFiles() async throws -> Int {
        try await assets.removeOrphanedFiles { [store] names in
            try await store.read { try $0.knownAssetFiles(among: names) }
        }
    }

    /// Goes on erasing what removed users left, where that was asked for and then
    /// stopped.
    package func eraseRemoved() async throws {
        let eraser = EraseAccount(limits: limits, storeIdentity: store.identity)
        let accounts = try await store.read { try $0.removedAccounts(limit: Self.batchSize) }
        var failure: (any Error)?
        for account in accounts.map(\.account) {
            do {
                for _ in 0..<Self.batchesPerRound {
                    let now = time.now()
                    let isComplete = try await store.writeInSteps(for: nil) {
                        try eraser.step(account, at: now, as: $0)
                    }
                    if isComplete { break }
                }
            } catch {
                // Damage among what one left is no reason to keep what others left.
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// Removes what deleted zones have left (``ZoneWriting/deleteZones``).
    private func removeDeletedZones() async throws -> Int {
        let now = time.now()
        return try await removeAll {
            try $0.removeDeletedZones(limit: Self.batchSize, at: now)
        }
    }

    /// Removes the oldest notifications of users who have very many.
    private func trimNotifications() async throws {
        let count = limits.notificationsPerUser
        let users = try await store.read(.long) {
            try $0.usersWithNotifications(moreThan: count, limit: Self.batchSize)
        }
        for user in users {
            _ = try await removeAll(.user(user)) {
                try $0.trimNotifications(of: user, to: count, limit: Self.batchSize)
            }
        }
    }

    /// Notes in the store which tokens were used: one write for all, and none when nothing
    /// is new.
    package func storeTokenUses() async throws {
        let uses = tokenUses.take()
        guard !uses.isEmpty else { return }
        try await store.write(.uses) { try $0.noteUse(of: uses) }
    }

    /// Notes in the store what development asked for: nothing where nothing is new.
    package func storeQueryUses() async throws {
        let now = time.now()
        let uses = Dictionary(grouping: queryUses.take(), by: \.container)
        for (container, noted) in uses {
            try await store.write(.catalogue(container)) {
                try $0.noteQueryUses(
                    noted.map(\.use), in: container, at: now, keeping: CheckSchema.mostUses)
            }
        }
    }

    /// Removes sign-ins of devices that nobody finished, and what is remembered of finished ones by a provider.
    private func removeSignIns() async throws {
        let now = time.now()
        _ = try await removeAll(.store) {
            try $0.removeDeviceSignIns(expiredBy: now, limit: Self.batchSize)
        }
        _ = try await removeAll(.store) {
            try $0.removeFinishedVisits(endedBy: now, limit: Self.batchSize)
        }
    }

    private func removeExplanations(at now: Instant) async throws -> Int {
        // Who keeps nothing keeps nothing, also where retention lags behind the time of day.
        let end = limits.explanationRetention == .zero ? time.now() : now
        let moment = end.advanced(by: .zero - limits.explanationRetention)
        return try await removeAll {
            try $0.removeExplanations(
                before: moment, exceeding: limits.explanationBounds, limit: Self.batchSize
            )
        }
    }

    private func removeAnswers(at now: Instant) async throws -> Int {
        let moment = now.advanced(by: .zero - limits.answerRetention)
        let present = time.now()
        return try await removeAll {
            try $0.removeAnswers(
                keptBefore: moment, at: present, exceeding: limits.keptAnswerBytes,
                limit: Self.batchSize
            )
        }
    }

    /// Takes one step; its failure is logged once, until it works again.
    private func attempt(_ step: String, _ body: () async throws -> Void) async {
        do {
            try await body()
            guard failing.steps.withLock({ $0.remove(step) }) != nil else { return }
            logger.notice("maintenance works again", metadata: ["step": "\(step)"])
        } catch is StoreUnavailable {
            // Logged where it began.
        } catch _ where Task.isCancelled {
            // The end of the server is no failure.
        } catch {
            guard failing.steps.withLock({ $0.insert(step).inserted }) else { return }
            logger.warning(
                "maintenance failed; it is tried again",
                metadata: ["step": "\(step)", "error": "\(error)"]
            )
        }
    }

    private func removeAll(
        _ scope: StoreScope = .batch,
        _ remove: @escaping @Sendable (any StoreTransaction) throws -> Int
    ) async throws -> Int {
        var total = 0
        for _ in 0..<Self.batchesPerRound {
            let count = try await store.write(scope, remove)
            total += count
            if count < Self.batchSize { break }
        }
        return total
    }
}

/// The steps of a maintenance that failed when they were last taken.
private final class Failing: Sendable {
    let steps = Mutex<Set<String>>([])
}
