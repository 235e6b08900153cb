// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
    import CloudKit
    import Notes
    import Testing
    import TidebellTesting

    @Suite("Notes on two devices")
    struct NoteStoreTests {
        @Test("a note is saved")
        func save() async throws {
            let cloud = try await TestCloud()
            let phone = try await cloud.device(user: "anna")
            let store = await phone.run { NoteStore() }
            try await store.start()
            try await store.save("milk", as: "shopping")
            #expect(
                try await cloud.dump() == """
                    iCloud.org.example.app development
                      anna private
                        zone Notes
                          Note shopping {"text":{"value":"milk","type":"STRING"}}
                        zone _defaultZone
                        subscription notes-changes zone zone Notes
                    """)
        }

        @Test("a push reaches the other device, and nobody else")
        func push() async throws {
            let cloud = try await TestCloud()
            let phone = try await cloud.device(user: "anna")
            let laptop = try await cloud.device(user: "anna")
            let onPhone = await phone.run { NoteStore() }
            let onLaptop = await laptop.run { NoteStore() }
            for store in [onPhone, onLaptop] { try await store.start() }
            for device in [phone, laptop] { try await device.registerForRemoteNotifications() }

            try await onPhone.save("milk", as: "shopping")

            let push = try await laptop.nextPush()
            try await onLaptop.receive(try #require(push.notification))
            #expect(await onLaptop.notes == ["shopping": "milk"])
            try await phone.expectNoPushes()
        }

        @Test("a phone is not notified of its own change")
        func ownChange() async throws {
            try await TestCloud.run { cloud in
                let phone = try await cloud.device(user: "anna")
                let store = await phone.run { NoteStore() }
                try await store.start()
                try await phone.registerForRemoteNotifications()
                try await store.save("milk", as: "shopping")
            }
        }

        @Test("what happened while a device was offline comes when it is back")
        func offline() async throws {
            let home = try await Home()
            home.phone.goOffline()
            await #expect(throws: CKError.self) {
                try await home.onPhone.save("milk", as: "shopping")
            }
            try await home.onLaptop.save("bread", as: "shopping")
            try await home.phone.goOnline()
            let push = try await home.phone.nextPush()
            try await home.onPhone.receive(try #require(push.notification))
            #expect(await home.onPhone.notes == ["shopping": "bread"])
        }

        @Test("two devices change one note: nothing is lost")
        func conflict() async throws {
            let home = try await Home()
            try await home.onPhone.save("milk", as: "shopping")
            try await home.onLaptop.fetchChanges()

            try await home.onPhone.save("milk, bread", as: "shopping")
            try await home.onLaptop.save("eggs", as: "shopping")

            try await home.onPhone.fetchChanges()
            #expect(await home.onPhone.notes == ["shopping": "milk, bread\neggs"])
        }

        @Test("after a year in a drawer a device has what there is now")
        func expiredToken() async throws {
            let home = try await Home()
            try await home.onPhone.save("milk", as: "shopping")
            try await home.onLaptop.fetchChanges()
            try await home.onPhone.delete("shopping")

            await home.cloud.clock.jump(by: .seconds(365 * 24 * 3600))
            try await home.cloud.settle()  // the server forgets what was deleted

            try await home.onLaptop.fetchChanges()
            #expect(await home.onLaptop.notes == [:])
        }

        @Test("a cloud that holds what a file holds, and goes back to it")
        func fixtures() async throws {
            try await TestCloud.run { cloud in
                let phone = try await cloud.device(user: "anna")
                let store = await phone.run { NoteStore() }
                try await store.start()
                try await cloud.load("notes.json")
                let filled = try await cloud.snapshot()
                try await store.fetchChanges()
                #expect(await store.notes == ["shopping": "milk"])

                try await store.delete("shopping")
                try await cloud.restore(filled)
                try await store.fetchChanges()
                #expect(await store.notes == ["shopping": "milk"])
            }
        }

        @Test("each device has user defaults of its own")
        func ownDefaults() async throws {
            let cloud = try await TestCloud()
            let phone = try await cloud.device(user: "anna")
            let laptop = try await cloud.device(user: "anna")
            phone.defaults.set(true, forKey: "didSubscribe")
            #expect(!laptop.defaults.bool(forKey: "didSubscribe"))
        }

        @Test("as strict as Apple: the subscription that the store makes is one that Apple takes")
        func strict() async throws {
            let cloud = try await TestCloud(strictness: .apple)
            let phone = try await cloud.device(user: "anna")
            let store = await phone.run { NoteStore() }
            try await store.start()
        }

        @Test("without an account the store reports that")
        func noAccount() async throws {
            let cloud = try await TestCloud()
            let phone = try await cloud.device(user: nil)
            #expect(try await phone.container().accountStatus() == .noAccount)
            let store = await phone.run { NoteStore() }
            do {
                try await store.start()
                Issue.record("nobody is signed in")
            } catch let error as CKError {
                #expect(error.code == .notAuthenticated)
            }
        }

        @Test("another user on the same device sees nothing of the first")
        func anotherUser() async throws {
            let cloud = try await TestCloud()
            let phone = try await cloud.device(user: "anna")
            let annas = await phone.run { NoteStore() }
            try await annas.start()
            try await annas.save("milk", as: "shopping")

            try await phone.signIn("ben")
            let bens = await phone.run { NoteStore() }
            try await bens.start()
            #expect(await bens.notes == [:])

            try await phone.signOut()
            #expect(try await phone.container().accountStatus() == .noAccount)
        }
    }

    /// Two devices of anna, each with its notes, notified of changes.
    private struct Home {
        let cloud: TestCloud
        let phone: TestDevice
        let laptop: TestDevice
        let onPhone: NoteStore
        let onLaptop: NoteStore

        init() async throws {
            cloud = try await TestCloud()
            phone = try await cloud.device(user: "anna")
            laptop = try await cloud.device(user: "anna")
            onPhone = await phone.run { NoteStore() }
            onLaptop = await laptop.run { NoteStore() }
            for store in [onPhone, onLaptop] { try await store.start() }
            for device in [phone, laptop] { try await device.registerForRemoteNotifications() }
        }
    }
#endif
