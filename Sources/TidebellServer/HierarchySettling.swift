// SPDX-License-Identifier: Apache-2.0
package import Logging
import ServiceLifecycle
package import TidebellCore
import TidebellScheduling

/// Lets records follow into shares and out of them after a save that moved very many, or ended a
/// share: at once, in short steps between which others write.
///
/// What is left to do is in the store, so that whoever serves next goes on.
package struct HierarchySettling: Service {
    /// Time between two looks, where no commit signalled anything.
    static let interval = Duration.seconds(60)
    /// Records that one transaction looks at.
    package static let recordsPerStep = 400
    /// Zones that one read finds.
    private static let zonesPerRead = 100

    private let store: any Store
    private let time: Time
    private let logger: Logger

    package init(store: any Store, time: Time, logger: Logger) {
        self.store = store
        self.time = time
        self.logger = logger
    }

    /// Settles what there is until the service group shuts down.
    package func run() async throws {
        let commits = store.unsettledCommits()
        let wake = WakeSignal(isRaised: true)
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in commits { wake.raise() } }
                group.addTask {
                    // Sleeping fails by cancellation only, which is the end.
                    while (try? await time.clock.sleep(for: Self.interval)) != nil { wake.raise() }
                }
                while await wake.wait() { await settle() }
                group.cancelAll()
            }
        }
    }

    /// Goes round all zones that are not settled, with a step in each, until none is left but
    /// those that fail.
    package func settle() async {
        var failed: Set<ZoneKey> = []
        var isDone = false
        while !isDone, !Task.isCancelled {
            isDone = true
            var next = ZoneKey(rawValue: 0)
            while let zones = await unsettledZones(from: next), let end = zones.last {
                for zone in zones where !failed.contains(zone.zone.key) {
                    isDone = false
                    if await !step(zone) { failed.insert(zone.zone.key) }
                }
                next = ZoneKey(rawValue: end.zone.key.rawValue + 1)
            }
        }
    }

    private func unsettledZones(from first: ZoneKey) async -> [UnsettledZone]? {
        do {
            return try await store.read {
                try $0.unsettledZones(from: first, limit: Self.zonesPerRead)
            }
        } catch {
            note(error, in: nil)
            return nil
        }
    }

    /// Takes one step; returns whether that went well.
    private func step(_ zone: UnsettledZone) async -> Bool {
        let now = time.now()
        do {
            _ = try await store.write(.database(zone.database.key)) {
                try SettleHierarchies.step(
                    zone.zone.key, limit: Self.recordsPerStep, at: now, in: $0)
            }
            return true
        } catch {
            note(error, in: zone)
            return false
        }
    }

    private func note(_ error: any Error, in zone: UnsettledZone?) {
        // The end of the server is no failure, and trouble with the store logged where it began.
        guard !Task.isCancelled, !(error is StoreUnavailable) else { return }
        logger.warning(
            "records cannot follow into shares or out of them; it is tried again",
            metadata: [
                "zone": "\(zone?.zone.name ?? "")", "error": "\(error)",
            ])
    }
}
