// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import CloudKit

@Suite("Pending changes of a sync engine")
struct PendingChangeTests {
    typealias Change = CKSyncEngine.PendingRecordZoneChange

    static let zoneID = CKRecordZone.ID(zoneName: "Notes")

    static func id(_ name: String) -> CKRecord.ID {
        CKRecord.ID(recordName: name, zoneID: zoneID)
    }

    static func save(_ name: String) -> Change { .saveRecord(id(name)) }
    static func delete(_ name: String) -> Change { .deleteRecord(id(name)) }

    @Test("SYNC-19: the same change again stays where it is, the opposite one replaces it")
    func deduplicating() {
        let state = CKSyncEngine.State(nil)
        state.add(pendingRecordZoneChanges: [Self.save("a"), Self.save("b"), Self.save("a")])
        #expect(state.pendingRecordZoneChanges == [Self.save("a"), Self.save("b")])
        state.add(pendingRecordZoneChanges: [Self.delete("a")])
        #expect(state.pendingRecordZoneChanges == [Self.save("b"), Self.delete("a")])
        state.add(pendingRecordZoneChanges: [Self.save("a")])
        #expect(state.pendingRecordZoneChanges == [Self.save("b"), Self.save("a")])
    }

    @Test("SYNC-19: zones are distinguished by their IDs, and the newest object counts")
    func zones() {
        let state = CKSyncEngine.State(nil)
        let first = CKRecordZone(zoneName: "A")
        let second = CKRecordZone(zoneName: "A")
        state.add(pendingDatabaseChanges: [.saveZone(first), .saveZone(second)])
        #expect(state.pendingDatabaseChanges == [.saveZone(first)])
        guard case .saveZone(let kept) = state.pendingDatabaseChanges.first else {
            Issue.record("no zone is to be saved")
            return
        }
        #expect(kept === second)
        state.add(pendingDatabaseChanges: [.deleteZone(first.zoneID)])
        #expect(state.pendingDatabaseChanges == [.deleteZone(first.zoneID)])
        state.remove(pendingDatabaseChanges: [.saveZone(first)])
        #expect(state.pendingDatabaseChanges == [.deleteZone(first.zoneID)])
        state.remove(pendingDatabaseChanges: [.deleteZone(first.zoneID)])
        #expect(state.pendingDatabaseChanges == [])
    }

    @Test("Only the very change is removed, not the opposite one of the same record")
    func removing() {
        let state = CKSyncEngine.State(nil)
        state.add(pendingRecordZoneChanges: [Self.save("a"), Self.delete("b")])
        state.remove(pendingRecordZoneChanges: [Self.delete("a"), Self.delete("b")])
        #expect(state.pendingRecordZoneChanges == [Self.save("a")])
    }

    @Test("A change that was made again while it was being sent is still to be sent")
    func editions() {
        var list = PendingChangeList([Self.save("a"), Self.save("b"), Self.save("c")])
        let sent = list.edition
        list.add(Self.save("a"))
        list.add(Self.delete("b"))
        let removed = ["a", "b", "c"].map { list.remove(Self.save($0), addedUpTo: sent) }
        #expect(removed == [false, false, true])
        #expect(list.changes == [Self.save("a"), Self.delete("b")])
    }

    @Test(
        "SYNC-19: any sequence of additions and removals leaves what the rules require",
        arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64]
    )
    func property(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var list = PendingChangeList<Change>()
        var model: [Change] = []
        for step in 0..<2000 {
            let name = "r\(Int.random(in: 0..<12, using: &random))"
            let change = Bool.random(using: &random) ? Self.save(name) : Self.delete(name)
            if Int.random(in: 0..<4, using: &random) > 0 {
                list.add(change)
                if !model.contains(change) {
                    model.removeAll { $0.itemID == change.itemID }
                    model.append(change)
                }
            } else {
                let wasThere = list.remove(change)
                #expect(wasThere == model.contains(change), "seed \(seed), step \(step)")
                model.removeAll { $0 == change }
            }
            guard list.changes == model, list.isEmpty == model.isEmpty else {
                Issue.record("seed \(seed), step \(step): \(list.changes) is not \(model)")
                return
            }
        }
    }

    @Test("SYNC-25: scopes decide which zones and records they contain")
    func scopes() {
        let other = CKRecordZone.ID(zoneName: "Other")
        let (a, b) = (Self.id("a"), CKRecord.ID(recordName: "b", zoneID: other))
        typealias Fetch = CKSyncEngine.FetchChangesOptions.Scope
        let fetches: [Fetch] = [.all, .allExcluding([other]), .zoneIDs([other])]
        #expect(fetches.map { $0.contains(Self.zoneID) } == [true, true, false])
        #expect(fetches.map { $0.contains(other) } == [true, false, true])
        typealias Send = CKSyncEngine.SendChangesOptions.Scope
        let sends: [Send] = [.all, .allExcluding([other]), .zoneIDs([other]), .recordIDs([b])]
        #expect(sends.map { $0.contains(a) } == [true, true, false, false])
        #expect(sends.map { $0.contains(.saveRecord(b)) } == [true, false, true, true])
        #expect(sends.map { $0.contains(zone: other) } == [true, false, true, true])
        #expect(sends.map { $0.contains(zone: Self.zoneID) } == [true, true, false, false])
    }
}
