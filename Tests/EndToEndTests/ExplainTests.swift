// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// The answer to "where is my push?", as an operator gets it.
struct ExplainTests {
    @Test(
        "SUB-7, SUB-46: tidebell push explain prints why pushes came or not, while the server runs",
        .hangs
    )
    func missedPushes() async throws {
        let program = try Built.tidebell()
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let server = try await program.serve()
        let home = try await Household(program: program, user: "anna")
        try await home.prepare(zone: "Feed")
        let devices = home.devices(1)
        for device in devices { try await device.watch() }
        let (_, database) = try home.database()

        let inFeed = CKRecord.ID(recordName: "n1", zoneID: CKRecordZone.ID(zoneName: "Feed"))
        _ = try await database.save(CKRecord(recordType: "Note", recordID: inFeed))
        let inDefault = CKRecord.ID(recordName: "n2")
        _ = try await database.save(CKRecord(recordType: "Note", recordID: inDefault))

        // The pipeline may be a moment behind.
        var lines = try await program.run(["push", "explain", "n1"])
        while lines.contains(where: { $0.contains("not notified yet") }) {
            lines = try await program.run(["push", "explain", "n1"])
        }
        #expect(lines.first == "\(Household.container) · development")
        #expect(lines.contains("record n1 (Note) created in zone Feed, private database of anna"))
        #expect(
            lines.contains(
                "  ✓ everything (database): every change in a custom zone fires it (SUB-54)"
            )
        )

        let missed = try await program.run(["push", "explain", "n2", "--user", "anna"])
        #expect(
            missed.last == "In the default zone only query subscriptions fire, and there are none "
                + "in that database (SUB-7)."
        )
        let json = try await program.run(["push", "explain", "n1", "--json"])
        #expect(json.first?.hasPrefix(#"{"changes":[{"change":"#) == true)
        let nothing = try await program.run(["push", "explain", "--user", "ben"])
        #expect(nothing == ["There is no user 'ben'. There are: anna, me."])

        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }
}
