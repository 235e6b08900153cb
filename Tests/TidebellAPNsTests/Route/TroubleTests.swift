// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TestSupport
import Testing
import TidebellTesting

@Suite("Trouble with Apple's push service", .hangs)
struct TroubleTests {
    @Test(
        "what may pass is tried again with the same ID",
        arguments: [
            FakeAPNs.Refusal.tooManyRequests, .internalServerError, .serviceUnavailable,
            .tooManyProviderTokenUpdates, .topicDisallowed, .deviceTokenNotForTopic,
            .invalidProviderToken, .init(status: 502, reason: ""), .init(status: 404, reason: ""),
        ])
    func triedAgain(refusal: FakeAPNs.Refusal) async throws {
        let home = try await AppleHousehold()
        home.apple.refuse(refusal, times: 1)
        try await home.note(1)
        try await home.note(2)
        try await home.cloud.settle()
        #expect(home.apple.received == [])
        #expect(home.apple.answers.count == 1)
        try await home.pass(.seconds(80))
        #expect(home.numbers(of: home.apple.received) == [1, 2])
    }

    @Test(
        "a notification that Apple will never take is passed over",
        arguments: [
            FakeAPNs.Refusal.payloadTooLarge, .init(status: 400, reason: "BadCollapseId"),
            .init(status: 405, reason: "MethodNotAllowed"),
        ])
    func passedOver(refusal: FakeAPNs.Refusal) async throws {
        let home = try await AppleHousehold()
        home.apple.refuse(refusal, times: 1)
        try await home.note(1)
        try await home.note(2)
        try await home.cloud.settle()
        #expect(home.numbers(of: home.apple.received) == [2])
        #expect(home.apple.answers.count == 2)
    }

    @Test("a dead token is forgotten, and works again once registered again")
    func deadToken() async throws {
        for refusal in [FakeAPNs.Refusal.badDeviceToken, .unregistered(since: .distantFuture)] {
            let home = try await AppleHousehold()
            home.apple.refuse(refusal, times: 1)
            try await home.note(1)
            try await home.cloud.settle()
            try await home.note(2)
            try await home.cloud.settle()
            #expect(home.apple.answers.count == 1)
            try await home.phone.registerAppleDevice()
            try await home.note(3)
            try await home.cloud.settle()
            #expect(home.numbers(of: home.apple.received) == [3])
        }
    }

    @Test("a token registered after Apple found it dead is not forgotten")
    func livingToken() async throws {
        let home = try await AppleHousehold()
        home.apple.refuse(.unregistered(since: home.clock.date.addingTimeInterval(-1)), times: 1)
        try await home.note(1)
        try await home.cloud.settle()
        #expect(home.apple.answers == ["410 Unregistered"])
        try await home.pass(.seconds(2))
        #expect(home.numbers(of: home.apple.received) == [1])
    }

    @Test("an expired provider token is replaced at once")
    func expiredToken() async throws {
        let home = try await AppleHousehold()
        try await home.note(1)
        // Only a token that is in use by then grows old.
        try await home.cloud.settle()
        try await home.pass(.seconds(120))
        home.apple.refuse(.expiredProviderToken, times: 1)
        try await home.note(2)
        try await home.cloud.settle()
        #expect(home.apple.answers == ["200", "403 ExpiredProviderToken", "200"])
    }

    @Test("provider tokens are replaced in time: three hours of pushes, none refused")
    func renewals() async throws {
        let home = try await AppleHousehold()
        for number in 0..<12 {
            try await home.note(number)
            try await home.cloud.settle()
            await home.clock.jump(by: .seconds(15 * 60))
        }
        #expect(home.apple.answers == Array(repeating: "200", count: 12))
    }

    @Test(
        "a connection that breaks or is closed by the service costs nothing",
        arguments: [true, false])
    func lostConnection(isPolite: Bool) async throws {
        let home = try await AppleHousehold()
        try await home.note(1)
        try await home.cloud.settle()
        if isPolite { home.apple.goAway(times: 1) } else { home.apple.hangUp(times: 1) }
        try await home.note(2)
        try await home.pass(.seconds(5))
        #expect(home.numbers(of: home.apple.received) == [1, 2])
        #expect(home.apple.connectionCount >= 2)
    }

    @Test("a push on its way when the connection breaks is sent again with the same ID")
    func repeatedID() async throws {
        let home = try await AppleHousehold()
        home.apple.hold()
        try await home.note(1)
        try await home.apple.held(1)
        home.apple.dropConnections()
        try await home.apple.held(2)
        home.apple.release()
        try await home.cloud.settle()
        // The first was taken, but its answer was lost.
        #expect(home.apple.received.count == 2)
        #expect(Set(home.apple.received.map(\.id)).count == 1)
    }

    @Test("a good-bye with ten pushes under way loses none of them")
    func goodByeToMany() async throws {
        let home = try await AppleHousehold()
        var tokens: Set = [home.token]
        var devices: [TestDevice] = []
        for _ in 0..<9 {
            let device = try await home.cloud.device(user: "anna")
            tokens.insert(try await device.registerAppleDevice())
            devices.append(device)
        }
        home.apple.hold()
        try await home.note(1)
        try await home.apple.held(10)
        home.apple.goAway(times: 1)
        home.apple.release()
        try await home.pass(.seconds(5))
        #expect(Set(home.apple.received.map(\.deviceToken)) == tokens)
        #expect(Set(home.apple.received.map(\.id)).count == 1)
    }

    @Test("one device that Apple throttles holds up no other")
    func slowDevice() async throws {
        let home = try await AppleHousehold()
        let pad = try await home.cloud.device(user: "anna")
        let padToken = try await pad.registerAppleDevice()
        home.apple.refuse(.tooManyRequests, tokens: [home.token])
        for number in 0..<20 { try await home.note(number) }
        try await home.cloud.settle()
        #expect(home.numbers(of: home.apple.received) == Array(0..<20))
        #expect(Set(home.apple.received.map(\.deviceToken)) == [padToken])
        home.apple.behave()
        try await home.pass(.seconds(80))
        let late = home.apple.received.filter { $0.deviceToken == home.token }
        #expect(home.numbers(of: late) == Array(0..<20))
    }

    @Test(
        "PUSH-2, PUSH-3: after an hour without Apple every alert comes, and the newest silent push")
    func outage() async throws {
        let home = try await AppleHousehold()
        home.apple.refuse(.serviceUnavailable)
        for number in 0..<12 {
            try await home.note(number)
            try await home.touch()
            try await home.pass(.seconds(300))
        }
        #expect(home.apple.received == [])
        // Growing waits: far fewer requests than there were moments to try.
        #expect(home.apple.answers.count < 100)
        home.apple.behave()
        try await home.pass(.seconds(80))
        let pushes = home.apple.received
        #expect(home.numbers(of: pushes) == Array(0..<12))
        #expect(pushes.filter { $0.pushType == "background" }.count == 1)
        #expect(pushes.count == 13)
    }

    @Test("PUSH-14: a restart goes on where it was, and repeats nothing")
    func restart() async throws {
        let home = try await AppleHousehold()
        try await home.note(1)
        try await home.cloud.settle()
        home.apple.refuse(.serviceUnavailable)
        try await home.note(2)
        try await home.note(3)
        try await home.cloud.settle()
        try await home.cloud.stop()
        home.apple.behave()
        try await home.cloud.start()
        try await home.cloud.settle()
        #expect(home.numbers(of: home.apple.received) == [1, 2, 3])
    }

    @Test("a shutdown lets a push under way have its answer")
    func shutdown() async throws {
        let home = try await AppleHousehold()
        home.apple.hold()
        try await home.note(1)
        try await home.apple.held(1)
        async let stopped: Void = home.cloud.stop()
        home.apple.release()
        try await stopped
        try await home.cloud.start()
        try await home.cloud.settle()
        #expect(home.numbers(of: home.apple.received) == [1])
    }

    @Test("nobody at the gateway: pushes wait until there is")
    func nobodyThere() async throws {
        let home = try await AppleHousehold()
        await home.apple.stop()
        try await home.note(1)
        try await home.cloud.settle()
        #expect(home.apple.received == [])
        #expect(home.apple.answers == [])
    }
}
