// SPDX-License-Identifier: Apache-2.0
package import Logging
import ServiceLifecycle
package import TidebellCore
package import TidebellScheduling

/// Builds the indexes that queries wished for, in short steps between which others write, and
/// drops those that no query has used for long.
///
/// How far an index is stands in the store, so that whoever serves next goes on.
package struct FieldIndexing: Service {
    /// Time between two looks, where no query wished for anything.
    static let interval = Duration.seconds(60)
    /// How exactly it is noted when an index was used.
    static let useInterval = Duration.seconds(24 * 3600)
    /// Records that one transaction takes up, and entries that it removes.
    package static let recordsPerStep = 500
    /// Indexes that one read finds.
    private static let indexesPerRead = 100

    private let store: any Store
    private let interest: IndexInterest
    private let wake: WakeSignal
    private let limits: Limits
    private let time: Time
    private let logger: Logger

    package init(store: any Store, limits: Limits, time: Time, logger: Logger) {
        self.store = store
        self.limits = limits
        self.time = time
        self.logger = logger
        let wake = WakeSignal(isRaised: true)
        self.wake = wake
        interest = IndexInterest { wake.raise() }
    }

    /// Takes note of how a query was found.
    package func note(_ report: QueryReport) { interest.note(report) }

    /// Builds what there is to build until the service group shuts down.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    // Sleeping fails by cancellation only, which is the end.
                    while (try? await time.clock.sleep(for: Self.interval)) != nil { wake.raise() }
                }
                while await wake.wait() { await settle() }
                group.cancelAll()
            }
        }
    }

    /// Makes what was wished for, finishes what is unfinished, and drops what is not used.
    package func settle() async {
        await attempt("use") { try await noteUses() }
        for wish in interest.takeWishes() {
            await attempt("wish") {
                let now = time.now()
                try await store.write(.databaseWithID(wish.database)) {
                    try BuildFieldIndex.begin(wish, limits: limits, at: now, in: $0)
                }
            }
        }
        await attempt("unused") { try await dropUnused() }
        await finish()
    }

    private func noteUses() async throws {
        let uses = interest.takeUses()
        guard !uses.isEmpty else { return }
        let now = time.now()
        let before = now.advanced(by: .zero - Self.useInterval)
        let old = try await store.read { reader in
            try uses.filter { try reader.fieldIndex($0).map { $0.usedAt < before } ?? false }
        }
        guard !old.isEmpty else { return }
        try await store.write(.uses) { try $0.noteUse(of: old, at: now) }
    }

    private func dropUnused() async throws {
        let moment = time.now().advanced(by: .zero - limits.indexRetention)
        let unused = try await store.read {
            try $0.fieldIndexes(unusedSince: moment, limit: Self.indexesPerRead)
        }
        for index in unused {
            _ = try await store.write(.databaseWithID(index.database)) {
                try $0.dropFieldIndex(index.id, limit: Self.recordsPerStep)
            }
        }
    }

    /// Goes round all unfinished indexes, with a step of each, until none is left but those that
    /// fail.
    private func finish() async {
        var failed: Set<FieldIndexID> = []
        var isDone = false
        while !isDone, !Task.isCancelled {
            isDone = true
            var last = FieldIndexID(rawValue: 0)
            while let indexes = await unfinished(after: last), let end = indexes.last {
                for index in indexes where !failed.contains(index.id) {
                    isDone = false
                    let isTaken = await attempt("step") {
                        _ = try await store.write(.databaseWithID(index.database)) {
                            try BuildFieldIndex.step(
                                index.id, limit: Self.recordsPerStep, in: $0)
                        }
                    }
                    if !isTaken { failed.insert(index.id) }
                }
                last = end.id
            }
        }
    }

    private func unfinished(after last: FieldIndexID) async -> [StoredFieldIndex]? {
        var found: [StoredFieldIndex]?
        await attempt("look") {
            found = try await store.read {
                try $0.unfinishedFieldIndexes(after: last, limit: Self.indexesPerRead)
            }
        }
        return found
    }

    /// Returns whether that went well.
    @discardableResult
    private func attempt(_ step: String, _ body: () async throws -> Void) async -> Bool {
        do {
            try await body()
            return true
        } catch {
            // The end of the server is no failure, and trouble with the store logged where it began.
            guard !Task.isCancelled, !(error is StoreUnavailable) else { return false }
            logger.warning(
                "indexes cannot be built; it is tried again, and queries look through records",
                metadata: ["step": "\(step)", "error": "\(error)"])
            return false
        }
    }
}
