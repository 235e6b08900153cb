// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
    import CloudKit
    import Notes
    import Testing
    import TidebellTesting

    @Suite("Notes on an iPhone")
    struct ApplePushTests {
        @Test("an iPhone is notified by Apple's push service")
        func applePush() async throws {
            let apple = try await FakeAPNs()
            let cloud = try await TestCloud(apns: apple)
            let phone = try await cloud.device(user: "anna")
            let laptop = try await cloud.device(user: "anna")
            let token = try await phone.registerAppleDevice()
            let store = await laptop.run { NoteStore() }
            try await store.start()

            try await store.save("milk", as: "shopping")

            let push = try await apple.next()
            #expect(push.deviceToken == token)
            #expect(push.pushType == "background")
            #expect(push.notification?.subscriptionID == "notes-changes")
        }
    }
#endif
