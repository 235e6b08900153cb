// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let explanationBounds: [Check] = [
        Check("What explains a change goes by age, oldest first, at most so much at once") {
            store in
            try await store.write(.everything) { transaction throws in
                let ids = try transaction.notify(changes: 4, matches: 3)
                let later = Instant.noon.advanced(by: .seconds(4))
                // Changes lie a second apart.
                func remove(_ limit: Int) throws -> Int {
                    try transaction.removeExplanations(
                        before: later.advanced(by: .seconds(-2)), exceeding: .none, limit: limit
                    )
                }
                #expect(try remove(2) >= 2)
                #expect(try transaction.keptChanges(KeptChangeQuery(), limit: 9).count == 4)
                #expect(try transaction.notifiedMatches(of: ids[0], to: nil, limit: 9).count == 1)
                while try remove(2) >= 2 {}
                let kept = try transaction.keptChanges(KeptChangeQuery(), limit: 9)
                #expect(kept.map(\.entry.id) == [ids[3], ids[2]])
                #expect(try transaction.notifiedMatches(of: ids[1], to: nil, limit: 9) == [])
                #expect(try transaction.notifiedMatches(of: ids[2], to: nil, limit: 9).count == 3)
                #expect(try remove(2) == 0)
            }
        },
        Check("Changes that are still pending stay, whatever their age") { store in
            try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                try transaction.appendOutbox([.change(of: "a", in: database)])
                let bounds = ExplanationBounds(changes: 0, matches: 0, deliveries: 0)
                let removed = try transaction.removeExplanations(
                    before: .noon.advanced(by: .seconds(1)), exceeding: bounds, limit: 9
                )
                #expect(removed == 0)
                #expect(try transaction.outbox(limit: 9).count == 1)
            }
        },
        Check("The bound of changes leaves the newest") { store in
            try await store.write(.everything) { transaction throws in
                let ids = try transaction.notify(changes: 4, matches: 1)
                var bounds = ExplanationBounds.none
                bounds.changes = 1
                _ = try transaction.removeExplanations(
                    before: .noon, exceeding: bounds, limit: 99
                )
                let kept = try transaction.keptChanges(KeptChangeQuery(), limit: 9)
                #expect(kept.map(\.entry.id) == [ids[3]])
            }
        },
        Check("The bound of matches leaves whole changes") { store in
            try await store.write(.everything) { transaction throws in
                let ids = try transaction.notify(changes: 4, matches: 3)
                var bounds = ExplanationBounds.none
                bounds.matches = 7
                _ = try transaction.removeExplanations(
                    before: .noon, exceeding: bounds, limit: 99
                )
                let kept = try transaction.keptChanges(KeptChangeQuery(), limit: 9)
                #expect(kept.map(\.entry.id) == [ids[3], ids[2]])
                #expect(try transaction.notifiedMatches(of: ids[2], to: nil, limit: 9).count == 3)
            }
        },
        Check("Deliveries go by age and number, oldest first") { store in
            try await store.write(.everything) { transaction throws in
                let later = Instant.noon.advanced(by: .seconds(1))
                try transaction.appendDeliveries([
                    .attempt(1, "a", "sent"), .attempt(2, "a", "sent"),
                    .attempt(3, "a", "sent", at: later), .attempt(4, "a", "sent", at: later),
                ])
                func left() throws -> [Int64] {
                    try (1...4).filter {
                        try !transaction.deliveries(
                            of: NotificationSequence(rawValue: $0), to: .anna, limit: 9
                        ).isEmpty
                    }
                }
                func remove(_ bounds: ExplanationBounds = .none, limit: Int) throws -> Int {
                    try transaction.removeExplanations(
                        before: later, exceeding: bounds, limit: limit
                    )
                }
                #expect(try remove(limit: 1) == 1)
                #expect(try left() == [2, 3, 4])
                #expect(try remove(limit: 9) == 1)
                #expect(try left() == [3, 4])
                var bounds = ExplanationBounds.none
                bounds.deliveries = 1
                #expect(try remove(bounds, limit: 9) == 1)
                #expect(try left() == [4])
            }
        },
    ]
}

extension ExplanationBounds {
    /// Nothing is too much.
    fileprivate static let none = ExplanationBounds(
        changes: .max, matches: .max, deliveries: .max
    )
}

extension StoreTransaction {
    /// Writes changes a second apart, all processed, with as many matches each.
    fileprivate func notify(changes: Int, matches: Int) throws -> [OutboxEntryID] {
        let database = try makeDatabase(.privateNotes()).id
        for index in 0..<changes {
            var entry = OutboxEntry.change(of: "z\(index)", in: database)
            entry.committedAt = .noon.advanced(by: .seconds(index))
            try appendOutbox([entry])
        }
        let ids = try outbox(limit: changes).map(\.id)
        for id in ids {
            let name = id.position.rawValue
            try appendNotifiedMatches((0..<matches).map { .notified(id, "\(name)-\($0)") })
        }
        try markNotified(upTo: ids.last?.position ?? .start, in: database, keeping: true)
        return ids
    }
}
