// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
package import TidebellCore

extension StoreConformance {
    static let leases: [Check] = [
        Check("H7: a database has one holder; the next claim gets others, in their turns") {
            store in
            try await store.appendChanges(in: 7, 2, 5)
            let first = try await store.claim(limit: 2)
            #expect(first.leases.map(\.key.rawValue) == [7, 2])
            #expect(first.nextVesting == nil)
            let second = try await store.claim(limit: 9)
            #expect(second.leases.map(\.key.rawValue) == [5])
            #expect(second.nextVesting == .vesting)
            #expect(
                try await store.claim()
                    == ClaimedLeases(leases: [], nextVesting: .vesting)
            )
            for lease in first.leases + second.leases { #expect(try await store.holds(lease)) }
            // What comes meanwhile to a database that is held waits for its holder.
            try await store.appendChanges(in: 5, 8)
            #expect(try await store.claim().leases.map(\.key.rawValue) == [8])
        },
        Check("H7: what is pending is read with the claim, and nothing where there is none") {
            store in
            try await store.appendChanges(in: 7, 2, 5)
            let claim = LeaseClaim(
                holder: LeaseHolder(rawValue: UUID()), now: .noon, vestingAt: .vesting, limit: 2
            )
            for expected in [[7, 2], [5], nil] as [[Int64]?] {
                let (claimed, pending) = try await store.claimOutboxes(claim) { leases, reader in
                    try? reader.outboxes(of: leases.map(\.key), limit: 9, byteLimit: .max)
                }
                #expect(claimed.leases.map(\.key.rawValue) == expected ?? [])
                #expect((pending ?? nil)?.map(\.database.rawValue) == expected)
            }
        },
        Check("H7: a lease vests; who claims next holds it, and the first no more") { store in
            try await store.appendChanges(in: 7)
            let first = try #require(try await store.claim().leases.first)
            #expect(try await store.claim(at: Instant.vesting.before).leases == [])
            // Nobody else has it: still theirs.
            #expect(try await store.holds(first))
            let second = try #require(try await store.claim(at: .vesting).leases.first)
            #expect(try await store.holds(second))
            #expect(try await !store.holds(first))
            // Given back by who has lost it, it stays with the other.
            try await store.returnOutboxes([ReturnedLease(first, .done)])
            #expect(try await store.holds(second))
            #expect(try await store.claim(at: .vesting).leases == [])
        },
        Check("H7: what is given back is free at once, and its former holder holds it no more") {
            store in
            try await store.appendChanges(in: 7, 2)
            let leases = try await store.claim().leases
            try await store.returnOutboxes([
                ReturnedLease(leases[0], .done), ReturnedLease(leases[1], .untouched),
            ])
            for lease in leases { #expect(try await !store.holds(lease)) }
            let again = try await store.claim().leases
            #expect(again.map(\.key) == leases.map(\.key))
            #expect(again.map(\.failures) == [0, 0])
        },
        Check("PUSH-14: a lease no longer holds once another pass processed the database") {
            store in
            try await store.appendChanges(in: 7)
            try await store.appendChanges(in: 7)
            let lease = try #require(try await store.claim().leases.first)
            let outbox = try #require(try await store.outbox(of: lease))
            let isHeld = try await store.write(.everything) { transaction throws in
                let before = try transaction.holds(lease, at: outbox.version)
                let serial = SubscriptionSerial(rawValue: 3)
                try transaction.setNotifiedThrough(serial, ofOutboxEntry: outbox.entries[0].id)
                return [before, try transaction.holds(lease, at: outbox.version)]
            }
            #expect(isHeld == [true, false])
            let next = try #require(try await store.outbox(of: lease))
            let isStillHeld = try await store.write(.everything) { transaction throws in
                let before = try transaction.holds(lease, at: next.version)
                let last = next.entries[1].position
                try transaction.markNotified(upTo: last, in: lease.key, keeping: false)
                // The queue begins anew.
                try transaction.appendOutbox([.change(of: "new", in: lease.key)])
                return [before, try transaction.holds(lease, at: next.version)]
            }
            #expect(isStillHeld == [true, false])
        },
        Check("H7: a database that failed is given out alone, after a wait; others meanwhile") {
            store in
            try await store.appendChanges(in: 7, 2, 5)
            let later = Instant.noon.advanced(by: .seconds(9))
            let all = try await store.claim().leases
            try await store.returnOutboxes([
                ReturnedLease(all[0], .failed(vestingAt: .noon)),
                ReturnedLease(all[1], .failed(vestingAt: later)),
                ReturnedLease(all[2], .untouched),
            ])
            // One that failed, and those that did not, take turns.
            var claimed: [[Int64]] = []
            for _ in 0..<4 {
                let given = try await store.claim()
                #expect(given.nextVesting == later)
                claimed.append(given.leases.map(\.key.rawValue))
                try await store.returnOutboxes(given.leases.map { ReturnedLease($0, .untouched) })
            }
            #expect(claimed == [[7], [5], [7], [5]])
            let failed = try await store.claim().leases
            #expect(failed.map(\.failures) == [1])
            try await store.returnOutboxes(failed.map { ReturnedLease($0, .done) })
            #expect(try await store.claim().leases.map(\.key.rawValue) == [7, 5])
            let last = try await store.claim(at: later).leases
            #expect(last.map(\.key.rawValue) == [2])
            #expect(last.map(\.failures) == [1])
        },
        Check("H7: the lease of a claim that the clock has gone back far behind vests") { store in
            try await store.appendChanges(in: 7)
            let first = try #require(try await store.claim().leases.first)
            let second = try #require(
                try await store.claim(at: Instant.noon.advanced(by: .seconds(-60))).leases.first)
            #expect(try await store.holds(second))
            #expect(try await !store.holds(first))
        },
        Check("H7: of many who claim at once, none gets what another has") { store in
            try await store.appendChanges(in: 1, 2, 3, 4, 5, 6, 7, 8, 9)
            let claimed = try await withThrowingTaskGroup(of: [OutboxLease].self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        var all: [OutboxLease] = []
                        while true {
                            let claimed = try await store.claim(limit: 2).leases
                            guard !claimed.isEmpty else { return all }
                            all += claimed
                        }
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(claimed.map(\.key.rawValue).sorted() == Array(1...9))
        },
        Check("PUSH-13: where the logs of users end is found for all of them at once") { store in
            try await store.write(.everything) { transaction throws in
                let log = try transaction.appendNotifications([
                    .push("a"), .push("b", to: .ben), .push("c"),
                ])
                let ends = try transaction.newestNotifications(
                    of: [.anna, .ben, UserID(rawValue: 99)])
                #expect(ends == [.anna: log[2].sequence, .ben: log[1].sequence])
            }
        },
    ]
}

extension Instant {
    package static let vesting = Instant.noon.advanced(by: .seconds(30))

    fileprivate var before: Instant { Instant(rawValue: rawValue - 1) }
}

extension Store {
    package func appendChanges(in databases: Int64...) async throws {
        try await write(.everything) { transaction in
            try transaction.appendOutbox(
                databases.map { .change(of: "zone", in: DatabaseID(rawValue: $0)) })
        }
    }

    /// Claims until ``Instant/vesting``, or for half a minute from then on.
    package func claim(
        at now: Instant = .noon, limit: Int = 9
    ) async throws -> ClaimedLeases<DatabaseID> {
        try await claimOutboxes(
            LeaseClaim(
                holder: LeaseHolder(rawValue: UUID()), now: now,
                vestingAt: max(.vesting, now.advanced(by: .seconds(30))), limit: limit
            )
        ) { _, _ in }.claimed
    }

    package func outbox(of lease: OutboxLease) async throws -> DatabaseOutbox? {
        try await read { try $0.outboxes(of: [lease.key], limit: 99, byteLimit: .max).first }
    }

    /// Whether a lease is held, as far as the store knows now.
    package func holds(_ lease: OutboxLease) async throws -> Bool {
        try await write(.everything) { transaction in
            let outbox = try transaction.outboxes(
                of: [lease.key], limit: 9, byteLimit: .max
            ).first
            return try outbox.map { try transaction.holds(lease, at: $0.version) } ?? false
        }
    }
}
