// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let transactions: [Check] = [
        Check("A body's result is returned, and its writes are seen by the next read") { store in
            let zone = try await store.write(.everything) { try $0.makeZone("diary") }
            let zones = try await store.read { try $0.zones(["diary"], in: zone.database) }
            #expect(zones == [zone])
        },
        Check("A body sees its own writes") { store in
            let seen = try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                try transaction.putRecords([.note("a", at: 2)], in: zone.key)
                return try transaction.records(["a"], in: zone.key)
            }
            #expect(seen == ["a": .note("a", at: 2)])
        },
        Check("A body that throws leaves no trace, and its error reaches the caller") { store in
            let database = try await store.write(.everything) {
                try $0.makeDatabase(.privateNotes())
            }
            await #expect(throws: Refused()) {
                try await store.write(.everything) { transaction throws in
                    let zone = try transaction.makeZone("diary")
                    try transaction.putRecords([.note("a", at: 2)], in: zone.key)
                    try transaction.appendOutbox([.change(of: "diary", in: zone.database)])
                    throw Refused()
                }
            }
            try await store.read { reader throws in
                #expect(try reader.database(.privateNotes()) == database)
                #expect(try reader.zoneChanges(in: database.id, after: .start, limit: 9).isEmpty)
                #expect(try reader.outbox(limit: 9).isEmpty)
            }
        },
        Check("A wire error thrown by a body arrives as it was") { store in
            await #expect(throws: WireError(.conflict, "no", retryAfter: 3)) {
                try await store.write(.everything) { _ in
                    throw WireError(.conflict, "no", retryAfter: 3)
                }
            }
        },
        Check("An error of the engine undoes the whole body even when it is caught") { store in
            let zone = try await store.write(.everything) { try $0.makeZone("diary") }
            await #expect(throws: (any Error).self) {
                try await store.write(.everything) { transaction throws in
                    try transaction.putRecords([.note("a", at: 5)], in: zone.key)
                    // Two records cannot have one position.
                    try? transaction.putRecords([.note("b", at: 5)], in: zone.key)
                }
            }
            #expect(try await store.read { try $0.history(of: zone.key) }.isEmpty)
        },
        Check("A read sees one snapshot, however often it looks") { store in
            let zone = try await store.write(.everything) { try $0.makeZone("diary") }
            let gate = BlockingGate()
            // A body must not block; where it does for once, it has its own thread.
            async let seen = withTaskExecutorPreference(SeparateThread()) {
                try await store.read { reader throws in
                    let before = try reader.history(of: zone.key)
                    gate.reached()
                    gate.waitUntilOpen()
                    return [before, try reader.history(of: zone.key)]
                }
            }
            await gate.untilReached()
            try await store.write(.everything) {
                try $0.putRecords([.note("a", at: 2)], in: zone.key)
            }
            gate.open()
            #expect(try await seen == [[], []])
        },
        Check(reopening: "What a write returned from is there after reopening") { store, engine in
            let identity = store.identity
            let zone = try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                try transaction.putRecords([.note("a", at: 2, text: "dear")], in: zone.key)
                try transaction.appendOutbox([.change(of: "diary", in: zone.database)])
                return zone
            }
            let reopened = try await engine.reopen(store)
            #expect(reopened.identity == identity)
            try await reopened.read { reader throws in
                #expect(try reader.zones(nil, in: zone.database).contains(zone))
                #expect(try reader.history(of: zone.key) == [.note("a", at: 2, text: "dear")])
                #expect(try reader.outbox(limit: 9).map(\.zoneName) == ["diary"])
            }
            try await reopened.close()
        },
        Check("Calls after close fail, and closing twice does not") { store in
            try await store.close()
            try await store.close()
            await #expect(throws: (any Error).self) {
                try await store.write(.everything) { try $0.makeDatabase(.publicNotes) }
            }
            await #expect(throws: (any Error).self) {
                try await store.read { try $0.accountNames() }
            }
        },
    ]

    static let concurrency: [Check] = [
        Check("Positions of 32 concurrent writers are all different and none is skipped") { store in
            let database = try await store.write(.everything) {
                try $0.makeDatabase(.privateNotes())
            }
            let taken = try await withThrowingTaskGroup(of: [Position].self) { group in
                for _ in 0..<32 {
                    group.addTask {
                        var taken: [Position] = []
                        for _ in 0..<20 {
                            taken.append(
                                try await store.write(.everything) {
                                    try $0.advance(database.id, by: 1)
                                }
                            )
                        }
                        return taken
                    }
                }
                var all: [Position] = []
                for try await taken in group {
                    #expect(taken == taken.sorted())
                    all += taken
                }
                return all
            }
            #expect(taken.sorted() == (1...640).map { Position(rawValue: $0) })
        },
        Check("Of bodies that run together each fails alone") { store in
            let zone = try await store.write(.everything) { try $0.makeZone("diary") }
            let failures = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        do {
                            try await store.write(.everything) { transaction throws in
                                let position = try transaction.advance(zone.database, by: 1)
                                let record = StoredRecord.note("\(number)", at: position)
                                try transaction.putRecords([record], in: zone.key)
                                if number % 3 == 0 { throw Refused() }
                            }
                            return false
                        } catch { return true }
                    }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(failures == 67)
            let history = try await store.read { try $0.history(of: zone.key) }
            let expected = Set((0..<200).filter { $0 % 3 != 0 }.map(String.init))
            #expect(Set(history.map(\.name)) == expected)
            // The positions a failed body took are free again.
            #expect(history.map(\.position) == (2...134).map { Position(rawValue: $0) })
        },
        Check("A body sees every write that returned before it was called") { store in
            let zone = try await store.write(.everything) { try $0.makeZone("diary") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<32 {
                    group.addTask {
                        let name = "\(number)"
                        try await store.write(.everything) { transaction throws in
                            let position = try transaction.advance(zone.database, by: 1)
                            try transaction.putRecords([.note(name, at: position)], in: zone.key)
                        }
                        let seen = try await store.read { try $0.records([name], in: zone.key) }
                        #expect(seen.count == 1, "read after write \(name)")
                    }
                }
                try await group.waitForAll()
            }
        },
        Check("PUSH-14: a reader never sees a position of an outbox followed by a smaller one") {
            store in
            let database = try await store.write(.everything) {
                try $0.makeDatabase(.privateNotes())
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<16 {
                    group.addTask {
                        for _ in 0..<10 {
                            try await store.write(.everything) { transaction throws in
                                try transaction.appendOutbox([
                                    .change(of: "\(number)", in: database.id)
                                ])
                            }
                        }
                    }
                }
                group.addTask {
                    var known: [OutboxPosition] = []
                    while known.count < 160 {
                        let positions = try await store.read {
                            try $0.outbox(limit: 1000).map(\.position)
                        }
                        #expect(Array(positions.prefix(known.count)) == known)
                        known = positions
                        // An engine may read without suspending: let the writers on.
                        await Task.yield()
                    }
                }
                try await group.waitForAll()
            }
        },
    ]
}
