// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

struct ZoneTests {
    @Test("ZONE-1, ZONE-7: the default zone exists without being saved, without capabilities")
    func theDefaultZone() async throws {
        let bench = try await Bench()
        let call = bench.call()
        let zones = try await bench.store.read { try ListZones.run(for: call, in: $0) }.zones
        #expect(
            zones == [
                .zone(
                    WireZone(
                        zoneID: ZoneID(
                            zoneName: "_defaultZone", ownerRecordName: bench.anna.recordName
                        ),
                        isAtomic: false
                    )
                )
            ]
        )
        #expect(
            try await bench.lookup("n1", zone: "_defaultZone").map(\.summary) == ["n1 NOT_FOUND"])
    }

    @Test(
        "ZONE-2: custom zones only in the private database",
        arguments: [DatabaseScope.public, .shared])
    func customZonesArePrivate(scope: DatabaseScope) async throws {
        let bench = try await Bench()
        let error = await #expect(throws: WireError.self) {
            try await bench.makeZone("Notes", bench.call(scope: scope))
        }
        #expect(error?.ckErrorCode == 24)
    }

    @Test(
        "ZONE-4: bad zone names are refused by name",
        arguments: [
            ("_x", "zone name '_x' must not start with an underscore"),
            ("zoné", "zone name 'zoné' must be printable ASCII"),
            (
                String(repeating: "z", count: 256),
                "zone name '\(String(repeating: "z", count: 57))...' is longer than 255 characters"
            ),
        ]
    )
    func badNames(name: String, reason: String) async throws {
        let bench = try await Bench()
        #expect(
            try await bench.makeZone(name).zones
                == [.failed(ZoneID(zoneName: name), WireError(.badRequest, reason))]
        )
    }

    @Test("ZONE-5: saving an existing zone changes nothing")
    func savingAgain() async throws {
        let bench = try await Bench()
        let first = try await bench.makeZone("Notes")
        try await bench.modify(.save(.create, "a", title: "1"))
        let token = try await bench.databaseChanges().syncToken
        #expect(try await bench.makeZone("Notes").zones.count == first.zones.count)
        #expect(try await bench.lookup("a").map(\.summary) == ["a=1"])
        #expect(try await bench.databaseChanges(since: token).zones == [])
    }

    @Test("ZONE-6: deleting a zone deletes its records; a missing zone is not found")
    func deleting() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        try await bench.modify(.save(.create, "a"))
        try await bench.deleteZone("Notes")
        await #expect(throws: WireError(.zoneNotFound, "Zone 'Notes' does not exist")) {
            try await bench.lookup("a")
        }
        #expect(
            try await bench.deleteZone("Notes").zones == [
                .failed(
                    ZoneID(zoneName: "Notes"),
                    WireError(.zoneNotFound, "Zone 'Notes' does not exist")
                )
            ]
        )
        try await bench.makeZone("Notes")
        #expect(try await bench.lookup("a").map(\.summary) == ["a NOT_FOUND"])
    }

    @Test("SUB-11: users and environments do not see one another's zones")
    func separateDatabases() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        await #expect(throws: WireError(.zoneNotFound, "Zone 'Notes' does not exist")) {
            try await bench.lookup("a", call: bench.call(bench.otto))
        }
    }
}
