// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import Testing
import TidebellCore
import TidebellHTTP
import TidebellScheduling
import TidebellTestStores
import TidebellWire

@testable import TidebellServer
import TidebellPush
import HTTPTypes
import TestSupport

@Suite("Clocks that are wrong")
struct WrongClockTests {
    @Test("M5: a disabled user is not served for longer because the time of day goes back")
    func callersAreForgotten() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-clock-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let clock = StepClock(at: TestAPI.start)
        let day = Mutex(TestAPI.start)
        let store = try TestStores.open(in: folder)
        let cloud = CloudServices(
            store: store, secret: .test, time: Time(now: { day.withLock(\.self) }, clock: clock),
            randomness: .system, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let tokens = try #require(try await cloud.accounts.prepareFirstRun())
        let target = TestAPI.target(
            "public/users/caller", apiToken: tokens.apiToken, webToken: tokens.webToken
        )
        #expect(await cloud.respond(.get, target).status == 200)
        try await store.write(.everything) { transaction in
            let account = try transaction.account(named: tokens.userName)
            try transaction.setDisabled(true, try #require(account))
        }
        day.withLock { $0 = $0.advanced(by: .seconds(-3600)) }
        clock.advance(by: .seconds(6))
        #expect(await cloud.respond(.get, target).status == 421)
        try await store.close()
    }

    @Test("M5: who gave wrong passwords does not wait for longer because the time of day goes back")
    func wrongPasswords() async throws {
        let api = try await TestAPI()
        let day = Mutex(TestAPI.start)
        var cloud = api.cloud.webServices.cloud
        cloud.time.now = { day.withLock(\.self) }
        let web = WebServices(cloud: cloud)
        func signIn() async -> Int {
            await web.respond(
                to: api.signInRequest(of: "me", "wrong horse", from: PeerAddress("192.0.2.1"))
            ).status
        }
        for _ in 0..<SignInAttempts.maximumFailures { #expect(await signIn() == 401) }
        #expect(await signIn() == 429)
        day.withLock { $0 = $0.advanced(by: .seconds(-3600)) }
        api.clock.advance(by: SignInAttempts.window)
        #expect(await signIn() == 401)
    }

    @Test("M5: starts with a clock a year ahead remove no device and no history, time does")
    func devicesAndHistory() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        try await api.subscribe(to: "Notes")
        let token = try await api.send(
            "POST", api.target(under: "device", "tokens/register") + "&clientId=phone",
            #"{"apnsEnvironment":"development","apnsToken":"00ff"}"#)
        #expect(token.status == 200)
        try await api.save("n1", in: "Notes")
        #expect(try await api.cloud.pipeline.drain() == 1)
        func left() async throws -> [Int] {
            try await api.cloud.store.read { reader in
                let account = try #require(try reader.account(named: "me"))
                let container = ContainerKey(
                    container: TestAPI.container, environment: .development)
                let user = try #require(try reader.user(of: account, in: container)).id
                let notifications = try reader.notifications(
                    for: user, after: .start, excludingOrigin: nil, limit: 10)
                return [try reader.devices(of: user).count, notifications.count]
            }
        }
        #expect(try await left() == [1, 1])
        for _ in 0..<5 {
            let clock = StepClock(at: TestAPI.start)
            await maintenance(api, clock, aheadBy: 365).round()
            #expect(try await left() == [1, 1])
        }
        let clock = StepClock(at: TestAPI.start)
        let maintenance = maintenance(api, clock, aheadBy: 0)
        clock.advance(by: Limits().notificationRetention + .seconds(1))
        await maintenance.round()
        #expect(try await left() == [1, 0])
        clock.advance(by: Limits().deviceRetention)
        await maintenance.round()
        #expect(try await left() == [0, 0])
    }

    @Test("M5: a thousand starts with a clock half a year ahead move retention by what was run")
    func manyStarts() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-clock-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try TestStores.open(in: folder)
        let half = Duration.seconds(180 * 24 * 3600)
        let run = Duration.seconds(60)
        func start(ranFor duration: Duration, aheadBy offset: Duration) async throws -> Instant {
            let clock = StepClock(at: TestAPI.start)
            let retention = RetentionClock(
                Time(now: { TestAPI.start.advanced(by: offset) }, clock: clock))
            clock.advance(by: duration)
            return try await retention.moment(in: store)
        }
        #expect(try await start(ranFor: .zero, aheadBy: .zero) == TestAPI.start)
        for _ in 0..<1000 {
            #expect(try await start(ranFor: .zero, aheadBy: half) == TestAPI.start)
        }
        var moment = TestAPI.start
        for _ in 0..<1000 { moment = try await start(ranFor: run, aheadBy: half) }
        #expect(moment == TestAPI.start.advanced(by: run * RetentionClock.pace * 1000))
        try await store.close()
    }

    @Test("M5: a first start with a clock ahead is forgotten once the clock is set right")
    func wrongFirstStart() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-clock-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try TestStores.open(in: folder)
        let day = Duration.seconds(24 * 3600)
        let ahead = Mutex(day * 180)
        let clock = StepClock(at: TestAPI.start)
        let retention = RetentionClock(
            Time(
                now: { TestAPI.start.advanced(by: ahead.withLock(\.self)) }, clock: clock
            ))
        #expect(
            try await retention.moment(in: store) == TestAPI.start.advanced(by: day * 180))
        ahead.withLock { $0 = .zero }
        clock.advance(by: day * 90)
        #expect(try await retention.moment(in: store) == TestAPI.start)
        // What is wrong later is not believed because the first start was.
        ahead.withLock { $0 = day * 180 }
        #expect(try await retention.moment(in: store) == TestAPI.start)
        try await store.close()
    }

    @Test("M5: retention moves by what servers ran that are started anew within the hour")
    func shortRuns() async throws {
        let api = try await TestAPI()
        #expect(try await moment(of: api) == TestAPI.start)
        for _ in 0..<3 {
            let clock = StepClock(at: TestAPI.start)
            let maintenance = maintenance(api, clock, aheadBy: 180)
            await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await maintenance.run() }
                for _ in 1..<Maintenance.intervalsPerRound {
                    await clock.waitForSleeper(of: Maintenance.interval)
                    clock.advance(by: Maintenance.interval)
                }
                // It is killed in the sixtieth minute.
                await clock.waitForSleeper(of: Maintenance.interval)
                group.cancelAll()
            }
        }
        let run = Maintenance.interval * (Maintenance.intervalsPerRound - 1) * 3
        #expect(
            try await moment(of: api)
                == TestAPI.start.advanced(by: run * RetentionClock.pace))
    }

    @Test("M5: what a server ran since the last minute counts when it is shut down")
    func shutDown() async throws {
        let api = try await TestAPI()
        #expect(try await moment(of: api) == TestAPI.start)
        let clock = StepClock(at: TestAPI.start)
        let group = ServiceGroup(
            services: [maintenance(api, clock, aheadBy: 180)], logger: api.log.logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            await clock.waitForSleeper(of: Maintenance.interval)
            clock.advance(by: Maintenance.interval / 2)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        #expect(
            try await moment(of: api)
                == TestAPI.start.advanced(by: Maintenance.interval / 2 * RetentionClock.pace))
    }

    @Test("M5: starts with a clock two days ahead remove no kept answer and no explanation")
    func answersAndExplanations() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        try await api.subscribe(to: "Notes")
        let token = try await api.send(
            "POST", api.target(under: "device", "tokens/register") + "&clientId=phone",
            #"{"apnsEnvironment":"development","apnsToken":"00ff"}"#)
        #expect(token.status == 200)
        // Under a name the server chooses: done twice there are two.
        func save() async throws -> String {
            try await api.post(
                "private/records/modify",
                """
                {"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"create",\
                "record":{"recordType":"Note","fields":{}}}]}
                """,
                headers: ["X-Tidebell-Request-ID": "1"]
            ).text
        }
        func isExplained() async throws -> Bool {
            try await api.cloud.store.read { try $0.oldestKeptChange() } != nil
        }
        let first = try await save()
        #expect(try await api.cloud.pipeline.drain() == 1)
        #expect(try await isExplained())
        for _ in 0..<5 {
            let clock = StepClock(at: TestAPI.start)
            await maintenance(api, clock, aheadBy: 2).round()
            #expect(try await save() == first)
            #expect(try await isExplained())
        }
        let clock = StepClock(at: TestAPI.start)
        let maintenance = maintenance(api, clock, aheadBy: 0)
        clock.advance(by: Limits().answerRetention + .seconds(1))
        await maintenance.round()
        #expect(try await !isExplained())
        #expect(try await save() != first)
    }

    /// Returns the moment of retention without moving it; a store that has none begins with the
    /// time at which the tests do.
    private func moment(of api: TestAPI) async throws -> TidebellCore.Instant {
        try await api.cloud.store.write(.store) {
            _ = try $0.moveRetention(to: TestAPI.start, byAtMost: .zero)
            return try $0.moveRetention(to: .init(rawValue: .max), byAtMost: .zero)
        }
    }

    /// The maintenance of a server that starts with a clock that is wrong by so many days.
    private func maintenance(
        _ api: TestAPI, _ clock: StepClock, aheadBy days: Int
    ) -> Maintenance {
        Maintenance(
            store: api.cloud.store, limits: Limits(),
            time: Time(
                now: { clock.instant.advanced(by: .seconds(days * 24 * 3600)) }, clock: clock
            ),
            logger: api.log.logger
        )
    }

    @Test("M5: starts with a clock half a year ahead remove no tombstone, time that passes does")
    func retention() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        try await api.save("n1", in: "Notes")
        let before = try await api.post(
            "private/changes/zone", #"{"zones":[{"zoneID":{"zoneName":"Notes"}}]}"#
        )
        let token = try #require(before.syncToken)
        _ = try await api.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"forceDelete",\
            "record":{"recordName":"n1"}}]}
            """
        )
        func fetch() async throws -> String {
            try await api.post(
                "private/changes/zone",
                #"{"zones":[{"zoneID":{"zoneName":"Notes"},"syncToken":"\#(token)"}]}"#
            ).text
        }
        await maintenance(api, StepClock(at: TestAPI.start), aheadBy: 0).round()
        for _ in 0..<5 {
            await maintenance(api, StepClock(at: TestAPI.start), aheadBy: 180).round()
            #expect(try await fetch().contains(#""deleted":true"#))
        }
        let clock = StepClock(at: TestAPI.start)
        let maintenance = maintenance(api, clock, aheadBy: 0)
        clock.advance(by: Limits().tombstoneRetention + .seconds(1))
        await maintenance.round()
        #expect(try await fetch().contains("client knowledge differs from server knowledge"))
    }
}
