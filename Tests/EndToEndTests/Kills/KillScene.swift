// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// Everybody who takes part in a kill test.
struct KillScene: Sendable {
    /// Whose devices and records these are.
    static let user = "anna"

    let ledger = Ledger()
    private let program: TidebellProgram
    private let household: Household
    private let observer: WireDevice
    private let pushes: [PushReader]
    private let apple: AppleReceiver?
    private let feeds: [FeedReader]
    private let files: FileWriter
    private let users: UserAdder
    private let watchers: [Watcher]
    private let receiver: WebhookReceiver
    private let early: String?
    private let seed: UInt64
    private let addsUsers: Bool
    private let writers: Int

    /// How many writes are acknowledged before each fault: that of an idle server proves nothing.
    private static let load = 20...80
    /// How many names are looked at right after a start.
    private static let mostLookedAt = 200

    /// Prepares everybody, on a server that runs.
    ///
    /// - Parameters:
    ///   - uploads: Where files are kept until they are uploaded.
    ///   - addsUsers: Whether commands add users meanwhile, and are killed, too.
    ///   - writers: How many devices write.
    ///   - devices: The devices that are notified by streams.
    ///   - nodes: Servers of the cloud, each of which has the stream of a device of its own.
    ///   - apple: The service by which others are notified.
    init(
        program: TidebellProgram, seed: UInt64, uploads: URL, addsUsers: Bool = true,
        writers: Int = 4, devices: [String] = ["phone", "pad"], nodes: [TidebellProgram] = [],
        apple: AppleReceiver? = nil
    ) async throws {
        self.program = program
        self.seed = seed
        self.addsUsers = addsUsers
        self.writers = writers
        self.apple = apple
        household = try await Household(program: program, user: Self.user)
        receiver = try WebhookReceiver()
        _ = try await program.run(["webhook", "add", Household.container, receiver.url])
        try await household.prepare(zone: "Feed")
        observer = household.wireDevice("observer")
        try await Self.subscribe(observer)
        let early = FeedReader(device: observer, limit: 100)
        try await early.catchUp()
        self.early = early.token
        let (household, ledger) = (household, ledger)
        let atNodes = try nodes.enumerated().map { number, node in
            try household.at(node).wireDevice("at-node-\(number + 1)")
        }
        pushes = (devices.map { household.wireDevice($0) } + atNodes).map {
            PushReader(device: $0, ledger: ledger)
        }
        for (name, token) in apple?.devices ?? [:] {
            try await household.registerAppleDevice(token: token, as: name)
        }
        feeds = [7, 150].map {
            FeedReader(device: household.wireDevice("feed-\($0)"), limit: $0)
        }
        files = try FileWriter(household: household, folder: uploads, ledger: ledger)
        users = UserAdder(program: program, ledger: ledger)
        watchers = household.devices(2)
    }

    private struct Subscribe: Encodable {
        struct Operation: Encodable {
            var operationType = "create"
            var subscription = Subscription()
        }

        struct Subscription: Encodable {
            var subscriptionID = "entries"
            var subscriptionType = "query"
            var zoneID = WireZone()
            var query = ["recordType": "Entry"]
            var firesOn = ["create", "update", "delete"]
            var notificationInfo = Info()
        }

        struct Info: Encodable {
            var alertBody = "changed"
            var additionalFields = ["value"]
        }

        var operations = [Operation()]
    }

    private static func subscribe(_ device: WireDevice) async throws {
        struct Answer: Decodable {}
        let _: Answer = try await device.post("private/subscriptions/modify", Subscribe())
    }

    /// Lets everybody work while the server, or one of several, fails again and again; returns what runs at last.
    ///
    /// - Parameter fault: Has a server fail, and returns what runs after it.
    func play<Servers>(
        _ server: Servers, times: Int, _ fault: (Servers) async throws -> Servers
    ) async throws -> Servers {
        var random = SeededGenerator(seed: seed)
        var server = server
        try await withThrowingTaskGroup(of: Void.self) { group in
            for reader in pushes { group.addTask { await reader.read() } }
            for feed in feeds { group.addTask { try await feed.follow() } }
            for watcher in watchers { try await watcher.watch() }
            await eventually { pushes.allSatisfy(\.isReady) }
            try await whileWriting {
                for _ in 0..<times {
                    try await load(Int.random(in: Self.load, using: &random))
                    // NB: the only point where a test sleeps: a fault needs a moment.
                    let moment = Int.random(in: 0...20, using: &random)
                    try await Task.sleep(for: .milliseconds(moment))
                    let settled = ledger.takeSettled(limit: Self.mostLookedAt)
                    let truth = ledger.contents
                    ledger.noteFault()
                    server = try await fault(server)
                    try await look(at: settled, in: truth)
                    ledger.noteEndOfFault()
                }
                try await load(Self.load.upperBound)
                // Nothing is proven of what nobody did.
                await eventually {
                    files.acknowledged > 0 && (!addsUsers || users.tokens > 0 && users.kills > 0)
                }
            }
            try await end()
            group.cancelAll()
            try await group.waitForAll()
        }
        return server
    }

    /// Lets the writers work until so many writes were acknowledged, then has the server fail once.
    func write<Result>(_ count: Int, then fault: () async throws -> Result) async throws -> Result {
        try await whileWriting {
            try await load(count)
            return try await fault()
        }
    }

    /// Runs the writers while `body` runs; each goes on until its last write is answered.
    private func whileWriting<Result>(_ body: () async throws -> Result) async throws -> Result {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let (household, ledger, seed, files, users) = (household, ledger, seed, files, users)
            for number in 0..<writers {
                let device = household.wireDevice("writer-\(number)")
                let writer = EntryWriter(device: device, ledger: ledger, name: "w\(number)")
                group.addTask { await writer.write(seed: seed &+ UInt64(number)) }
            }
            group.addTask { try await files.write(seed: seed &+ 100) }
            if addsUsers { group.addTask { try await users.add(seed: seed &+ 101) } }
            let result = try await body()
            group.cancelAll()
            try await group.waitForAll()
            return result
        }
    }

    /// Returns when so many more writes were acknowledged and others are under way.
    private func load(_ count: Int) async throws {
        let target = ledger.acknowledged + count
        await eventually { ledger.acknowledged >= target && ledger.underWay > 0 }
        try Task.checkCancellation()
    }

    /// Looks at names that nobody changes any more, right after a start.
    private func look(at names: [String], in truth: Ledger.Contents) async throws {
        guard !names.isEmpty else { return }
        let answer: WireEntries = try await observer.insist(
            "private/records/lookup", WireLookup(records: names.map { .init(recordName: $0) })
        )
        for record in answer.records ?? [] {
            let name = record.recordName ?? ""
            let found = record.recordChangeTag.map {
                Ledger.Entry(tag: $0, number: record.number ?? 0)
            }
            #expect(found == truth.entries[name], "\(name) right after a kill")
        }
        #expect(answer.records?.count == names.count)
    }

    /// Makes a last change; when it was delivered, all before it were, or never will be.
    private func end() async throws {
        let operation = WireOperation.create("the-last", 0)
        let answer: WireEntries = try await observer.insist(
            "private/records/modify", WireModify(atomic: false, operations: [operation])
        )
        ledger.acknowledged(operation, try #require(answer.records?.first))
        let last = Ledger.Change(name: "the-last", event: .created)
        await eventually {
            pushes.allSatisfy { $0.received[last] != nil }
                && apple?.received.values.allSatisfy { $0.changes[last] != nil } ?? true
        }
    }

    /// The names of the acknowledged writes that are not there, for a device that fetches all.
    func lost() async throws -> [String] {
        let truth = ledger.contents
        let fresh = FeedReader(device: observer, limit: 100)
        try await fresh.catchUp()
        return truth.entries.keys.filter { fresh.entries[$0] != truth.entries[$0] }
    }

    /// Removes a record behind the back of the ledger, which goes on to hold it as written;
    /// returns its name.
    func loseOne() async throws -> String {
        let entries = ledger.contents.entries
        let name = try #require(entries.keys.min())
        let answer: WireEntries = try await observer.post(
            "private/records/modify",
            WireModify(
                atomic: false, operations: [.delete(name, tag: entries[name]?.tag ?? "")])
        )
        #expect(answer.records?.first?.serverErrorCode == nil)
        return name
    }

    /// Compares everything with the ledger.
    func check() async throws {
        let truth = ledger.contents
        report(truth.violations)
        let fresh = FeedReader(device: observer, limit: 100, token: early)
        try await fresh.catchUp()
        for (reader, name) in zip(feeds + [fresh], ["pages of 7", "pages of 150", "early token"]) {
            try await reader.catchUp()
            report(truth.problems(inRecords: reader.entries, of: name))
            report(reader.repeated.map { "\(name): \($0) came twice" })
        }
        let first = try checkDevices(truth)
        try await checkReceiver(truth, besidePushes: first)
        let values = truth.entries.mapValues(\.number)
        // They would wait for ever for what is not there.
        if fresh.entries == truth.entries {
            for watcher in watchers { try await watcher.wait(for: values) }
        }
        try await files.check()
        let household = household
        try await users.check { household.wireDevice("cli", webAuthToken: $0) }
        #expect(truth.repeated > 0, "no kill cut a write")
        let idle = truth.loads.filter { $0.acknowledged < Self.load.lowerBound }
        #expect(idle.isEmpty, "faults met a cloud that nobody wrote to")
        #expect(truth.loads.contains { $0.underWay > 0 }, "no fault met a write")
        #expect(files.acknowledged > 0, "no file was saved")
        if addsUsers {
            #expect(users.tokens > 0, "no command printed a token")
            #expect(users.kills > 0, "no command was killed")
        }
        print(
            "\(truth.acknowledged) writes acknowledged, \(truth.repeated) cut and sent again, "
                + "\(truth.refused.count) of refused batches, \(truth.changes.count) changes; pushes "
                + "\(pushes.map { "\($0.name): \($0.events)" }), "
                + "\(receiver.texts.count) to the webhook, \(apple?.pushes ?? 0) to Apple; "
                + "pages \(feeds.map(\.pages)); \(files.acknowledged) files; "
                + "\(users.tokens) users, \(users.kills) killed commands; before each of "
                + "\(truth.loads.count) faults at least "
                + "\(truth.loads.map(\.acknowledged).min() ?? 0) writes acknowledged, "
                + "\(truth.loads.filter { $0.underWay > 0 }.count) of them met writes under way"
        )
    }

    /// All devices are notified of each change by one push, in order; returns the pushes of the first.
    private func checkDevices(
        _ truth: Ledger.Contents
    ) throws -> [Ledger.Change: ReceivedPushes.ReceivedChange] {
        let byApple = (apple?.received ?? [:]).sorted { $0.key < $1.key }
        report(apple?.problems ?? [])
        let all = pushes.map { ($0.name, $0.received) } + byApple.map { ($0, $1.changes) }
        let first = try #require(all.first).1
        for (device, pushes) in all {
            report(truth.problems(inPushes: pushes, of: device))
            report(truth.problems(inPushes: pushes, besidePushes: first, of: device))
        }
        return first
    }

    /// The webhook's receiver gets each change, by the one push that the devices received for it.
    private func checkReceiver(
        _ truth: Ledger.Contents,
        besidePushes pushes: [Ledger.Change: ReceivedPushes.ReceivedChange]
    ) async throws {
        // What was cut is sent again.
        try await eventually {
            try await !program.run(["webhook", "list"]).contains { $0.hasSuffix("are waiting") }
        }
        report(truth.problems(inMessages: receiver.received, besidePushes: pushes))
    }

    private func report(_ problems: [String]) {
        for problem in problems { Issue.record("\(problem)") }
    }
}
