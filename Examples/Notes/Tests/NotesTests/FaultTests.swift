// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
    import CloudKit
    import Foundation
    import Notes
    import Testing
    import TidebellTesting

    /// One test for each kind of fault.
    @Suite("Notes when something goes wrong")
    struct FaultTests {
        @Test("requestRateLimited: the app learns how long to wait")
        func throttled() async throws {
            try await TestCloud.run { cloud in
                let phone = try await cloud.device(user: "anna")
                let store = await phone.run { NoteStore() }
                try await store.start()
                phone.inject(.rateLimited(retryAfter: .seconds(30)), into: .modifyRecords)

                let error = try await #require(throws: CKError.self) {
                    try await store.save("milk", as: "shopping")
                }
                #expect(error.code == .requestRateLimited)
                #expect(error.retryAfterSeconds == 30)

                await cloud.clock.advance(by: .seconds(30))
                try await store.save("milk", as: "shopping")
            }
        }

        @Test("zoneBusy: in one zone, while others work")
        func zoneBusy() async throws {
            try await TestCloud.run { cloud in
                let phone = try await cloud.device(user: "anna")
                let store = await phone.run { NoteStore() }
                try await store.start()
                phone.inject(
                    .zoneBusy(retryAfter: .seconds(3)), into: .modifyRecords.in(NoteStore.zoneID))

                let error = await #expect(throws: CKError.self) {
                    try await store.save("milk", as: "shopping")
                }
                #expect(error?.code == .zoneBusy)
                let elsewhere = CKRecord(recordType: "Note")
                try await phone.container().privateCloudDatabase.save(elsewhere)
            }
        }

        @Test("serviceUnavailable, after the server has done the work")
        func doneAllTheSame() async throws {
            try await TestCloud.run { cloud in
                let phone = try await cloud.device(user: "anna")
                let store = await phone.run { NoteStore() }
                try await store.start()
                phone.inject(.error(.serviceUnavailable).afterWork, into: .modifyRecords)

                await #expect(throws: CKError.self) { try await store.save("milk", as: "shopping") }

                try await store.fetchChanges()
                #expect(await store.notes == ["shopping": "milk"])
            }
        }

        @Test("serviceUnavailable, three times; then the service is back")
        func serviceUnavailable() async throws {
            try await TestCloud.run { cloud in
                let phone = try await cloud.device(user: "anna")
                let store = await phone.run { NoteStore() }
                try await store.start()
                phone.inject(
                    .serviceUnavailable(retryAfter: .seconds(60)), into: .modifyRecords, times: 3)

                for _ in 1...3 {
                    let error = await #expect(throws: CKError.self) {
                        try await store.save("milk", as: "shopping")
                    }
                    #expect(error?.code == .serviceUnavailable)
                    await cloud.clock.advance(by: .seconds(60))
                }
                try await store.save("milk", as: "shopping")
            }
        }

        @Test("internalError, for whichever device asks first")
        func anyDevice() async throws {
            try await TestCloud.run { cloud in
                let home = try await Home(cloud)
                cloud.inject(.error(.internalError), into: .fetchZoneChanges)

                let error = await #expect(throws: CKError.self) {
                    try await home.onLaptop.fetchChanges()
                }
                #expect(error?.code == .internalError)
                try await home.onPhone.fetchChanges()
            }
        }

        @Test("any error, for one record")
        func anyError() async throws {
            try await TestCloud.run { cloud in
                let phone = try await cloud.device(user: "anna")
                let store = await phone.run { NoteStore() }
                try await store.start()
                let shopping = CKRecord.ID(recordName: "shopping", zoneID: NoteStore.zoneID)
                phone.inject(.error(.serverRejectedRequest), into: .modifyRecords.of(shopping))

                try await store.save("call", as: "todo")
                let error = await #expect(throws: CKError.self) {
                    try await store.save("milk", as: "shopping")
                }
                #expect(error?.code == .serverRejectedRequest)
            }
        }

        @Test("quotaExceeded: the user's storage is full")
        func quota() async throws {
            try await TestCloud.run(limits: ServerLimits(bytesPerUser: 10_000)) { cloud in
                let phone = try await cloud.device(user: "anna")
                let store = await phone.run { NoteStore() }
                try await store.start()
                let error = await #expect(throws: CKError.self) {
                    try await store.save(String(repeating: "milk ", count: 10_000), as: "shopping")
                }
                #expect(error?.code == .quotaExceeded)
            }
        }

        @Test("quotaExceeded, though there is room")
        func quotaOnDemand() async throws {
            try await TestCloud.run { cloud in
                let phone = try await cloud.device(user: "anna")
                let store = await phone.run { NoteStore() }
                try await store.start()
                phone.inject(.quotaExceeded, into: .modifyRecords)
                let error = await #expect(throws: CKError.self) {
                    try await store.save("milk", as: "shopping")
                }
                #expect(error?.code == .quotaExceeded)
            }
        }

        @Test("limitExceeded: a batch that is too large, in small")
        func smallLimits() async throws {
            try await TestCloud.run(limits: ServerLimits(itemsPerRequest: 2)) { cloud in
                let phone = try await cloud.device(user: "anna")
                let database = phone.container().privateCloudDatabase
                let notes = (1...3).map { _ in CKRecord(recordType: "Note") }
                let error = await #expect(throws: CKError.self) {
                    _ = try await database.modifyRecords(saving: notes, deleting: [])
                }
                #expect(error?.code == .limitExceeded)
                _ = try await database.modifyRecords(saving: Array(notes.prefix(2)), deleting: [])
            }
        }

        @Test("a lost request: the server never saw the save, which is sent again")
        func lostRequest() async throws {
            try await TestCloud.run { cloud in
                let phone = try await cloud.device(user: "anna")
                let store = await phone.run { NoteStore() }
                try await store.start()
                phone.inject(.lostRequest, into: .modifyRecords)
                try await cloud.passingTime { try await store.save("milk", as: "shopping") }
                #expect(await store.notes == ["shopping": "milk"])
            }
        }

        @Test("a lost answer: the save is sent again, and done once")
        func lostAnswer() async throws {
            try await TestCloud.run { cloud in
                let phone = try await cloud.device(user: "anna")
                let store = await phone.run { NoteStore() }
                try await store.start()
                phone.inject(.lostAnswer, into: .modifyRecords)
                try await cloud.passingTime { try await store.save("milk", as: "shopping") }
                #expect(await store.notes == ["shopping": "milk"])
            }
        }

        @Test("a slow answer is given up after a minute")
        func slowAnswer() async throws {
            try await TestCloud.run { cloud in
                let phone = try await cloud.device(user: "anna")
                let store = await phone.run { NoteStore() }
                try await store.start()
                phone.inject(.slow(.seconds(90)), into: .fetchZoneChanges)
                let error = await #expect(throws: CKError.self) {
                    try await cloud.passingTime { try await store.fetchChanges() }
                }
                #expect(error?.code == .networkFailure)
            }
        }

        @Test("short pages: what does not fit comes with the next fetch")
        func shortPages() async throws {
            try await TestCloud.run { cloud in
                let phone = try await cloud.device(user: "anna")
                let laptop = try await cloud.device(user: "anna")
                let onPhone = await phone.run { NoteStore() }
                let onLaptop = await laptop.run { NoteStore() }
                try await onPhone.start()
                try await onLaptop.start()
                for name in ["a", "b", "c"] { try await onPhone.save("milk", as: name) }
                laptop.inject(.shortPage(1), into: .fetchZoneChanges, times: 3)

                try await onLaptop.fetchChanges()
                #expect(await onLaptop.notes.count == 3)
            }
        }

        @Test("changeTokenExpired: the store begins anew")
        func expiredToken() async throws {
            try await TestCloud.run { cloud in
                let phone = try await cloud.device(user: "anna")
                let store = await phone.run { NoteStore() }
                try await store.start()
                try await store.save("milk", as: "shopping")
                try await store.fetchChanges()
                phone.inject(.expiredToken, into: .fetchZoneChanges)
                try await store.fetchChanges()
                #expect(await store.notes == ["shopping": "milk"])
            }
        }

        @Test("partialFailure of one record, while the other is saved")
        func partialFailure() async throws {
            try await TestCloud.run { cloud in
                let phone = try await cloud.device(user: "anna")
                let database = phone.container().privateCloudDatabase
                let (milk, bread) = (CKRecord(recordType: "Note"), CKRecord(recordType: "Note"))
                phone.inject(.failing([milk.recordID: .zoneBusy]), into: .modifyRecords)

                let (saved, _) = try await database.modifyRecords(
                    saving: [milk, bread], deleting: [], atomically: false)
                #expect((saved[milk.recordID]?.error as? CKError)?.code == .zoneBusy)
                #expect(try saved[bread.recordID]?.get().recordChangeTag != nil)
            }
        }

        @Test(
            "an account that may not be used",
            arguments: [
                CKAccountStatus.restricted, .temporarilyUnavailable, .couldNotDetermine,
            ])
        func accountStatus(expected: CKAccountStatus) async throws {
            try await TestCloud.run { cloud in
                let phone = try await cloud.device(user: "anna")
                try await phone.setAccountStatus(expected)
                #expect(await status(of: phone) == expected)
                try await phone.setAccountStatus(.available)
                #expect(await status(of: phone) == .available)
            }
        }

        @Test("a push that is lost: the next fetch brings what it was about")
        func lostPush() async throws {
            try await TestCloud.run { cloud in
                let home = try await Home(cloud)
                home.laptop.inject(push: .lost)
                try await home.onPhone.save("milk", as: "shopping")
                try await home.laptop.expectNoPushes()

                try await home.onLaptop.fetchChanges()
                #expect(await home.onLaptop.notes == ["shopping": "milk"])
            }
        }

        @Test("a push that is late")
        func latePush() async throws {
            try await TestCloud.run { cloud in
                let home = try await Home(cloud)
                home.laptop.inject(push: .late(by: .seconds(600)))
                try await home.onPhone.save("milk", as: "shopping")
                try await home.laptop.expectNoPushes()

                let push = try await cloud.passingTime { try await home.laptop.nextPush() }
                try await home.onLaptop.receive(try #require(push.notification))
                #expect(await home.onLaptop.notes == ["shopping": "milk"])
            }
        }

        @Test("a push that comes twice")
        func doubledPush() async throws {
            try await TestCloud.run { cloud in
                let home = try await Home(cloud)
                home.laptop.inject(push: .doubled)
                try await home.onPhone.save("milk", as: "shopping")

                let pushes = [try await home.laptop.nextPush(), try await home.laptop.nextPush()]
                #expect(pushes[0].notificationID == pushes[1].notificationID)
                for push in pushes {
                    try await home.onLaptop.receive(try #require(push.notification))
                }
                #expect(await home.onLaptop.notes == ["shopping": "milk"])
            }
        }

        @Test("a push that is cut names no zone")
        func prunedPush() async throws {
            try await TestCloud.run { cloud in
                let home = try await Home(cloud)
                home.laptop.inject(push: .pruned)
                try await home.onPhone.save("milk", as: "shopping")
                let push = try await home.laptop.nextPush()
                #expect(push.notification?.isPruned == true)
                try await home.onLaptop.receive(try #require(push.notification))
                #expect(await home.onLaptop.notes == ["shopping": "milk"])
            }
        }

        /// The status of the device's account, as an app asks for it.
        private func status(of device: TestDevice) async -> CKAccountStatus {
            do {
                return try await device.container().accountStatus()
            } catch {
                return .couldNotDetermine
            }
        }

        /// Two devices of anna that are registered for pushes.
        private struct Home {
            let laptop: TestDevice
            let onPhone: NoteStore
            let onLaptop: NoteStore

            init(_ cloud: TestCloud) async throws {
                let phone = try await cloud.device(user: "anna")
                laptop = try await cloud.device(user: "anna")
                onPhone = await phone.run { NoteStore() }
                onLaptop = await laptop.run { NoteStore() }
                try await onPhone.start()
                try await onLaptop.start()
                try await laptop.registerForRemoteNotifications()
            }
        }
    }

    extension Result {
        /// What it failed with; nil for a success.
        fileprivate var error: Failure? {
            if case .failure(let error) = self { error } else { nil }
        }
    }
#endif
