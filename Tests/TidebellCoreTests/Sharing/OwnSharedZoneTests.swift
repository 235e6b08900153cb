// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellWire

@testable import TidebellCore

/// What somebody accepts or leaves is in their own shared database when they are answered, in
/// whichever order that and the pipeline come.
@Suite("The own shared database") struct OwnSharedZoneTests {
    private let bench: SharingBench
    private let url: String

    init() async throws {
        bench = try await SharingBench()
        try await bench.modify(
            .save(.create, "list", title: "list"), .save(.create, "other", title: "other"))
        url = try await bench.share("list", with: [.invited(bench.otto)]).shortGUID()
        try await bench.bench.subscribe(
            .init(
                subscriptionID: "all", kind: .database, notificationInfo: .contentAvailable),
            bench.call(bench.otto))
        try await bench.tellParticipants()
    }

    /// The outbox of Otto's shared database.
    private func events() async throws -> [OutboxEntry.Event] {
        try await bench.bench.outbox().filter {
            $0.sharing == nil && $0.originUser == bench.otto.id
        }.map(\.event)
    }

    @Test("SHARE-16, SHARE-17, SUB-58: what is accepted is there at once, and is not brought again")
    func accepted() async throws {
        let before = try await bench.sharedZones(of: bench.otto)
        #expect(before.zones == [])
        try await bench.finish(try await bench.acceptHalf(url, as: bench.otto).zone)
        let after = try await bench.sharedZones(of: bench.otto, since: before.token)
        #expect(after.zones == ["Notes"])
        #expect(try await events() == [.zoneCreated])
        #expect(try await bench.tellParticipants() == [])
        #expect(try await bench.sharedZones(of: bench.otto, since: after.token).zones == [])
        // Who accepts what they have accepted finds it where it is.
        try await bench.finish(try await bench.acceptHalf(url, as: bench.otto).zone)
        #expect(try await bench.sharedZones(of: bench.otto, since: after.token).zones == [])
        #expect(try await events() == [.zoneCreated])
        // The owner has no zone that is shared with them.
        #expect(try await bench.acceptHalf(url, as: bench.anna).zone == nil)
    }

    @Test("SHARE-16: where the pipeline was faster, nothing comes twice")
    func pipelineFirst() async throws {
        let zone = try await bench.acceptHalf(url, as: bench.otto).zone
        #expect(try await bench.tellParticipants().map(\.event) == [.zoneCreated])
        let seen = try await bench.sharedZones(of: bench.otto)
        #expect(seen.zones == ["Notes"])
        try await bench.finish(zone)
        #expect(try await bench.sharedZones(of: bench.otto, since: seen.token).zones == [])
        #expect(try await events() == [.zoneCreated])
    }

    @Test("SHARE-16: who accepts again after a crash in between finds the zone")
    func acceptedAgain() async throws {
        _ = try await bench.acceptHalf(url, as: bench.otto)
        #expect(try await bench.sharedZones(of: bench.otto).zones == [])
        try await bench.finish(try await bench.acceptHalf(url, as: bench.otto).zone)
        let seen = try await bench.sharedZones(of: bench.otto)
        #expect(seen.zones == ["Notes"])
        // The other devices are notified of what was done at first.
        let told = try await bench.tellParticipants()
        #expect(told.map(\.event) == [.zoneCreated])
        #expect(told.map(\.originUser) == [bench.otto.id])
        #expect(try await bench.sharedZones(of: bench.otto).zones == ["Notes"])
        #expect(try await bench.tellParticipants() == [])
    }

    @Test(
        "SHARE-16, SUB-57: who accepts what somebody gave them back finds it, and it stays the doing of that one"
    )
    func givenBack() async throws {
        try await bench.finish(try await bench.acceptHalf(url, as: bench.otto).zone)
        try await bench.tellParticipants()
        try await bench.change(ShareChanges(participants: [.invited(bench.otto, .none)]))
        try await bench.tellParticipants()
        let lost = try await bench.sharedZones(of: bench.otto)
        #expect(lost.zones == [])
        // They are still somebody who accepted, so that accepting changes nothing.
        try await bench.change(
            ShareChanges(participants: [.invited(bench.otto, .readWrite, .administrator)]))
        let again = try await bench.acceptHalf(url, as: bench.otto).zone
        try await bench.finish(again)
        let back = try await bench.sharedZones(of: bench.otto, since: lost.token)
        #expect(back.zones == ["Notes"])
        let told = try await bench.tellParticipants()
        #expect(told.map(\.event) == [.zoneCreated])
        #expect(told.map(\.originUser) == [bench.anna.id])
        #expect(try await bench.tellParticipants() == [])
        // What comes after the pipeline changes nothing any more.
        let seen = try await bench.sharedZones(of: bench.otto)
        #expect(seen.zones == ["Notes"])
        try await bench.finish(again)
        #expect(try await bench.sharedZones(of: bench.otto, since: seen.token).zones == [])
        #expect(try await bench.tellParticipants() == [])
    }

    @Test("SHARE-17: what was taken from somebody before they accepted once more stays gone")
    func takenAfterAcceptingAgain() async throws {
        _ = try await bench.acceptHalf(url, as: bench.otto)
        let again = try await bench.acceptHalf(url, as: bench.otto).zone
        try await bench.modify(.share(.forceDelete))
        try await bench.tellParticipants()
        try await bench.finish(again)
        #expect(try await bench.sharedZones(of: bench.otto).zones == [])
    }

    @Test("SHARE-14, SHARE-17: what somebody leaves is gone at once, and is not reported again")
    func left() async throws {
        try await bench.finish(try await bench.acceptHalf(url, as: bench.otto).zone)
        try await bench.tellParticipants()
        let before = try await bench.sharedZones(of: bench.otto)
        let left = try await bench.leaveHalf(as: bench.otto)
        try await bench.finish(left)
        let after = try await bench.sharedZones(of: bench.otto, since: before.token)
        #expect(after.zones == ["-Notes"])
        #expect(try await events() == [.zoneCreated, .zoneDeleted(.deleted, subscriptions: [])])
        #expect(try await bench.tellParticipants() == [])
        #expect(try await bench.sharedZones(of: bench.otto, since: after.token).zones == [])
    }

    @Test("SHARE-17: what was taken from somebody before their accepting was finished stays gone")
    func removedMeanwhile() async throws {
        let accepted = try await bench.acceptHalf(url, as: bench.otto).zone
        try await bench.modify(.share(.forceDelete))
        try await bench.tellParticipants()
        #expect(try await bench.changes(as: bench.otto).error?.code == .zoneNotFound)
        let seen = try await bench.sharedZones(of: bench.otto)
        try await bench.finish(accepted)
        #expect(try await bench.sharedZones(of: bench.otto, since: seen.token).zones == [])
        #expect(try await bench.sharedZones(of: bench.otto).zones == [])
    }

    @Test("SHARE-17: another share of a zone that is there moves the zone, and takes no news of it")
    func anotherShare() async throws {
        try await bench.finish(try await bench.acceptHalf(url, as: bench.otto).zone)
        let other = try await bench.share("other", as: "second", with: [.invited(bench.otto)])
        try await bench.tellParticipants()
        let before = try await bench.sharedZones(of: bench.otto)
        // It is on its way when the other share is accepted.
        try await bench.modify(.save(.forceUpdate, "list", title: "longer"))
        try await bench.finish(
            try await bench.acceptHalf(try other.shortGUID(), as: bench.otto).zone)
        #expect(
            try await bench.sharedZones(of: bench.otto, since: before.token).zones == ["Notes"])
        let told = try await bench.tellParticipants().map(\.changes)
        #expect(
            told == [
                [RecordChange(recordName: "list", recordType: "Note", event: .updated)],
                [
                    RecordChange(
                        recordName: "second", recordType: ShareNames.recordType, event: .updated)
                ],
            ])
        // Of two shares one is left: the zone stays.
        let both = try await bench.sharedZones(of: bench.otto)
        #expect(both.zones == ["Notes"])
        try await bench.finish(try await bench.leaveHalf("second", as: bench.otto))
        let one = try await bench.sharedZones(of: bench.otto, since: both.token)
        #expect(one.zones == ["Notes"])
        try await bench.finish(try await bench.leaveHalf(as: bench.otto))
        #expect(try await bench.sharedZones(of: bench.otto, since: one.token).zones == ["-Notes"])
    }
}
