// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import Testing
import TidebellTesting

@Suite("Shares with several people", .finishesClouds) struct ManyParticipantsTests {
    @Test(
        "T-12, SUB-57, SUB-58: all who take part hear what one of them does, on each device; others hear nothing"
    )
    func pushes() async throws {
        let people = try await Sharers()
        var devices = [
            "anna phone": people.annasPhone, "anna laptop": people.annasLaptop,
            "ben phone": people.bensPhone, "ben laptop": people.bensLaptop,
        ]
        for user in ["carl", "eva"] {
            for name in ["phone", "laptop"] {
                let device = try await people.cloud.device(user: user)
                try await device.registerForRemoteNotifications()
                devices["\(user) \(name)"] = device
            }
        }
        // Everybody subscribes to all that they can subscribe to.
        for (name, device) in devices where name.hasSuffix("phone") {
            for scope in [CKDatabase.Scope.private, .shared] {
                let subscription = CKDatabaseSubscription(subscriptionID: "\(scope.rawValue)")
                subscription.notificationInfo = .silent
                try await device.container().database(with: scope).save(subscription)
            }
        }
        func device(_ name: String) throws -> TestDevice { try #require(devices[name]) }
        /// The databases in which devices heard of something since they were asked last.
        func heard() async throws -> [String: [CKDatabase.Scope]] {
            try await people.cloud.settle()
            return devices.mapValues { device in
                device.takePushes().compactMap {
                    ($0.notification as? CKDatabaseNotification)?.databaseScope
                }
            }.filter { !$0.value.isEmpty }
        }
        func accept(_ share: CKShare, on name: String) async throws {
            let metadata = try await device(name).open(shareURL: #require(share.url))
            _ = try await device(name).container().accept(metadata)
        }
        let participant = try await people.annasPhone.container().shareParticipant(
            forUserRecordID: CKRecord.ID(recordName: device("carl phone").userRecordName()))
        participant.permission = .readOnly
        _ = try await heard()

        // Who is invited hears nothing before they accept.
        let share = try await people.share()
        // Otherwise both changes may come in one push.
        #expect(try await heard() == ["anna laptop": [.private]])
        share.addParticipant(participant)
        try await people.annasPhone.privateDatabase.save(share)
        #expect(try await heard() == ["anna laptop": [.private]])
        try await accept(share, on: "ben phone")
        #expect(
            try await heard() == [
                "anna phone": [.private], "anna laptop": [.private], "ben laptop": [.shared],
            ])
        try await accept(share, on: "carl laptop")
        #expect(
            try await heard() == [
                "anna phone": [.private], "anna laptop": [.private], "ben phone": [.shared],
                "ben laptop": [.shared], "carl phone": [.shared],
            ])

        // A participant writes.
        let milk = try await people.bensPhone.sharedDatabase.record(for: people.bensID("milk"))
        milk["count"] = 2
        try await people.bensPhone.sharedDatabase.save(milk)
        let all: [String: [CKDatabase.Scope]] = [
            "anna phone": [.private], "anna laptop": [.private], "ben phone": [.shared],
            "ben laptop": [.shared], "carl phone": [.shared], "carl laptop": [.shared],
        ]
        #expect(try await heard() == all.filter { $0.key != "ben phone" })
        let carls = try await device("carl phone").sharedDatabase.record(
            for: people.bensID("milk"))
        #expect(carls["count"] == 2)
        // So does the owner, in what is shared and in what is not.
        let bread = try await people.annasLaptop.privateDatabase.record(for: people.id("bread"))
        bread["count"] = 1
        try await people.annasLaptop.privateDatabase.save(bread)
        #expect(try await heard() == all.filter { $0.key != "anna laptop" })
        let other = try await people.annasLaptop.privateDatabase.record(for: people.id("other"))
        other["count"] = 1
        try await people.annasLaptop.privateDatabase.save(other)
        #expect(try await heard() == ["anna phone": [.private]])

        // One leaves: the others' share changes, and on the leaver's devices the zone goes.
        try await device("carl phone").sharedDatabase.deleteRecord(
            withID: people.bensID(share.recordID.recordName))
        #expect(
            try await heard()
                == all.filter { $0.key != "carl phone" })
        milk["count"] = 3
        try await people.bensPhone.sharedDatabase.save(milk)
        #expect(
            try await heard() == [
                "anna phone": [.private], "anna laptop": [.private], "ben laptop": [.shared],
            ])

        // The share ends: its zone goes from the shared database of who still took part.
        let token = try await people.bensLaptop.sharedDatabase.databaseChanges(since: nil)
            .changeToken
        try await people.annasPhone.privateDatabase.deleteRecord(withID: share.recordID)
        #expect(
            try await heard() == [
                "anna laptop": [.private], "ben phone": [.shared], "ben laptop": [.shared],
            ])
        let changes = try await people.bensLaptop.sharedDatabase.databaseChanges(since: token)
        #expect(changes.deletions.map(\.zoneID.zoneName) == ["Lists"])
        #expect(try await device("eva phone").sharedDatabase.allRecordZones() == [])
        for name in ["eva phone", "eva laptop"] { #expect(try device(name).pushes.isEmpty) }
    }
}
