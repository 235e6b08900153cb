// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let readingAhead: [Check] = [
        Check("What was announced is read as it is when it is read") { store in
            let zone = try await store.write(.everything) { try $0.makeZone("diary") }
            // More than once: an engine may guess by what it read before.
            for round in 1...3 {
                let position = try await store.write(.everything) { transaction throws in
                    let write = WriteID(user: .anna, clientID: "phone", requestID: "\(round)")
                    transaction.readAhead { reader in
                        try announce(reader)
                        _ = try reader.keptAnswer(to: write)
                    }
                    #expect(
                        try transaction.records(["a", "b"], in: zone.key).count == min(round - 1, 1)
                    )
                    #expect(try transaction.keptAnswer(to: write) == nil)
                    let position = try transaction.advance(zone.database, by: 1)
                    let note = StoredRecord.note("a", at: position)
                    try transaction.putRecords([note], in: zone.key)
                    try transaction.touchZone(
                        zone.key, position: position, clientChangeToken: [UInt8(round)])
                    let answer = KeptAnswer(fingerprint: [], body: [1, 2])
                    try transaction.keepAnswer(answer, to: write, at: .noon, exceeding: 9999)
                    #expect(try transaction.records(["a", "b"], in: zone.key) == ["a": note])
                    #expect(try transaction.database(.privateNotes())?.head == position)
                    let found = try transaction.zones(["diary"], in: zone.database)
                    #expect(found.map(\.position) == [position])
                    #expect(found.map(\.clientChangeToken) == [[UInt8(round)]])
                    #expect(try transaction.keptAnswer(to: write) == answer)
                    return position
                }
                try await store.read { reader throws in
                    reader.readAhead { try announce($0) }
                    #expect(try reader.database(.privateNotes())?.head == position)
                    let found = try reader.zones(["diary"], in: zone.database)
                    #expect(found.map(\.clientChangeToken) == [[UInt8(round)]])
                    let page = try reader.recordChanges(
                        in: zone.key, after: .start, limit: 1, byteLimit: 1, reverse: false)
                    #expect(page.records == [.note("a", at: position)])
                    #expect(page.isComplete)
                }
            }
        },
        Check("Kept answers that were announced are counted, and the oldest go") { store in
            let answer = KeptAnswer(fingerprint: [], body: Array(repeating: 1, count: 100))
            for number in 1...8 {
                try await store.write(.everything) { transaction throws in
                    let write = WriteID(user: .anna, clientID: "phone", requestID: "\(number)")
                    transaction.readAhead { _ = try $0.keptAnswer(to: write) }
                    #expect(try transaction.keptAnswer(to: write) == nil)
                    try transaction.keepAnswer(
                        answer, to: write, at: .noon, exceeding: 4 * answer.size)
                }
            }
            let kept = try await store.read { reader throws in
                try (1...8).filter { number in
                    let write = WriteID(user: .anna, clientID: "phone", requestID: "\(number)")
                    return try reader.keptAnswer(to: write) != nil
                }
            }
            #expect(kept == [5, 6, 7, 8])
        },
        Check("A zone that was made anew is found, whatever was announced of the one before") {
            store in
            for _ in 1...2 {
                let zone = try await store.write(.everything) { transaction throws in
                    let zone = try transaction.makeZone("diary")
                    try transaction.putRecords([.note("a", at: 3)], in: zone.key)
                    return zone
                }
                try await store.read { try announce($0) }
                let other = try await store.write(.everything) { transaction throws in
                    transaction.readAhead { try announce($0) }
                    #expect(try transaction.records(["a"], in: zone.key).count == 1)
                    try transaction.delete(zone)
                    transaction.readAhead { try announce($0) }
                    let other = try transaction.makeZone("diary")
                    #expect(try transaction.zones(["diary"], in: zone.database) == [other])
                    #expect(try transaction.records(["a", "b"], in: other.key).isEmpty)
                    return other
                }
                try await store.read { reader throws in
                    reader.readAhead { try announce($0) }
                    #expect(
                        try reader.zones(["diary"], in: zone.database).map(\.key) == [other.key])
                    #expect(try reader.records(["a", "b"], in: other.key).isEmpty)
                }
                try await store.write(.everything) { try $0.delete(other) }
            }
        },
        Check("What is announced may fail, or be anything, and matters to nobody") { store in
            try await store.write(.everything) { transaction throws in
                transaction.readAhead { _ in throw Refused() }
                transaction.readAhead { reader in
                    _ = try reader.zones(["a", "b"], in: DatabaseID(rawValue: 99))
                    let zone = ZoneKey(rawValue: 99)
                    try reader.scanRecords(of: "Note", in: [zone], after: nil) { _, _ in true }
                    _ = try reader.records(
                        createdBy: "_a", in: zone, after: .start, limit: 2, lookingAt: 3)
                }
                let zone = try transaction.makeZone("diary")
                try transaction.putRecords([.note("a", at: 3)], in: zone.key)
                #expect(try transaction.records(["a"], in: zone.key).count == 1)
            }
        },
    ]

    /// Announces what is read of records of a zone.
    private static func announce(_ reader: any StoreReader) throws {
        guard let database = try reader.database(.privateNotes()),
            let zone = try reader.zones(["diary"], in: database.id).first
        else { return }
        _ = try reader.records(["a", "b"], in: zone.key)
        _ = try reader.recordChanges(
            in: zone.key, after: .start, limit: 1, byteLimit: 1, reverse: false)
    }
}
