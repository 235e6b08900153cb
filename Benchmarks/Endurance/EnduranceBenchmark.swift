// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TidebellProcesses

/// Ten thousand connected devices and writers at four fifths of what the server can carry, for half an
/// hour: memory, files and latencies must be at the end what they were at the beginning. Then far more
/// than it can carry, and whether it is itself again after that.
///
/// A writer saves a record of one of its users, and another device of that user fetches what changed since
/// it did so last; all ten that are connected are told of the save.
final class EnduranceBenchmark: Sendable {
    private static let users = 1000
    static let devicesPerUser = 10
    private static let writers = 32
    /// Connections of the overload: more than the server lets wait for its store.
    private static let crowd = 6000
    private static let overloadSeconds = 30.0
    /// Of the maximum that was measured.
    private static let load = 0.8
    /// Seconds of saves before the maximum is measured: in a store that is nearly empty a save changes fewer
    /// pages, so that more are possible.
    private static let fillingSeconds = 180.0
    /// Seconds of a measurement of the maximum.
    private static let seconds = 60.0
    /// The longest wait for the pushes of saves that are answered.
    private static let patience = 60.0
    /// Minutes at the beginning and at the end that are compared.
    private static let compared = 5

    private let bench: BenchServer
    private let users: [EnduranceUser]
    let results = Mutex(Results())

    /// What was counted since the last line.
    struct Results {
        var saves = LatencyHistogram()
        var fetches = LatencyHistogram()
        var pushes = LatencyHistogram()
        var pushCount = 0
        var failure: (any Error)?
    }

    /// What a minute came to.
    private struct Minute {
        var results: Results
        var residentBytes: Int
        var files: Int
    }

    static func run() async throws {
        DeviceCrowd.raiseFileLimit()
        let minutes =
            ProcessInfo.processInfo.environment["TIDEBELL_BENCH_MINUTES"].flatMap { Int($0) } ?? 30
        guard minutes > 0 else { throw BenchmarkError("TIDEBELL_BENCH_MINUTES is 1 or more") }
        let bench = try await BenchServer.start(arguments: ["--connections-per-address", "19000"])
        defer { bench.stop() }
        var users: [EnduranceUser] = []
        for number in 0..<Self.users {
            let token = try await bench.program.token(["user", "add", "user-\(number)"])
            users.append(EnduranceUser(token: token))
        }
        try EnduranceBenchmark(bench, users).run(minutes: minutes)
    }

    private init(_ bench: BenchServer, _ users: [EnduranceUser]) {
        self.bench = bench
        self.users = users
    }

    private func run(minutes: Int) throws {
        for user in users {
            try bench.makeZone("fan", token: user.token)
            try bench.subscribe(to: "fan", as: "fan", .alert, token: user.token)
        }
        let crowd = try DeviceCrowd()
        try crowd.connect(Self.users * Self.devicesPerUser, on: bench) { [bench, users] number in
            bench.streamPath(
                clientID: "device-\(number)", token: users[number / Self.devicesPerUser].token)
        }
        let devices = crowd.count
        let reading = Reading(crowd, users, self)
        reading.start()
        defer { reading.end() }
        _ = try write(for: Self.fillingSeconds, each: nil, reading)
        let most = try write(for: Self.seconds, each: nil, reading)
        printLine(
            "\(devices) devices; at most \(Int(most)) saves/s, each told to "
                + "\(Self.devicesPerUser) and fetched by one")
        let pace = most * Self.load
        let steady = try hold(pace, minutes: minutes, reading)
        compare(steady)
        try overload(reading)
        let after = try hold(pace, minutes: 2, reading)
        printLine("the second minute after the overload: \(text(of: after[1]))")
    }

    // MARK: - Load

    /// Has all writers write for so many seconds, at a pace of all together or as fast as they can, and
    /// waits for the pushes; returns how many saves a second that made.
    private func write(
        for seconds: Double, each pace: Double?, _ reading: Reading
    ) throws -> Double {
        let (start, before) = (monotonicNow(), saveCount)
        let group = DispatchGroup()
        for writer in 0..<Self.writers {
            group.enter()
            Thread.detachNewThread { [self] in
                defer { group.leave() }
                do {
                    try write(
                        as: writer, from: start, to: start + UInt64(seconds * 1e9), pace: pace)
                } catch {
                    results.withLock { $0.failure = $0.failure ?? error }
                }
            }
        }
        group.wait()
        if let failure = results.withLock(\.failure) { throw failure }
        try reading.waitForAll(atMost: Self.patience)
        return Double(saveCount - before) / (Double(monotonicNow() - start) / 1e9)
    }

    private var saveCount: Int { users.reduce(0) { $0 + $1.saves } }

    private func write(as writer: Int, from start: UInt64, to end: UInt64, pace: Double?) throws {
        let connection = try HTTPConnection(port: bench.program.port)
        let own = stride(from: writer, to: users.count, by: Self.writers).map { users[$0] }
        let interval = pace.map { Double(Self.writers) / $0 * 1e9 }
        // They take turns, so that they do not all save at the same moments.
        let turn = Double(writer) / Double(Self.writers)
        var number = 0
        while results.withLock({ $0.failure == nil }) {
            // What is late counts from when it was due.
            let due =
                interval.map { start + UInt64($0 * (Double(number) + turn)) } ?? monotonicNow()
            guard due < end else { return }
            let early = Int64(due) - Int64(monotonicNow())
            if early > 0 { Thread.sleep(forTimeInterval: Double(early) / 1e9) }
            let user = own[number % own.count]
            user.willSave(due: due)
            _ = try connection.post(
                bench.path("records/modify", token: user.token),
                createNotes(number..<number + 1, zone: "fan"))
            let saved = monotonicNow()
            let since = user.syncToken.map { #","syncToken":"\#($0)""# } ?? ""
            // The first time a page, which has the oldest; where it ends does not matter here.
            let answer = try connection.post(
                bench.path("changes/zone", token: user.token, clientID: "reader"),
                #"{"zones":[{"zoneID":{"zoneName":"fan"}\#(since),"resultsLimit":20}]}"#)
            let fetched = monotonicNow()
            guard let key = answer.range(of: #""syncToken":""#) else {
                throw BenchmarkError("an answer without a token")
            }
            user.syncToken = String(answer[key.upperBound...].prefix { $0 != "\"" })
            results.withLock { results in
                results.saves.record(saved - due)
                results.fetches.record(fetched - saved)
            }
            number += 1
        }
    }

    /// Holds a pace for so many minutes, and prints a line for each.
    private func hold(_ pace: Double, minutes: Int, _ reading: Reading) throws -> [Minute] {
        printLine("\(Int(pace)) saves/s for \(minutes) minutes; p50 / p99 / longest in ms")
        var lines: [Minute] = []
        results.withLock { $0 = Results(failure: $0.failure) }
        let done = DispatchSemaphore(value: 0)
        let failure = Mutex<(any Error)?>(nil)
        Thread.detachNewThread { [self] in
            do {
                _ = try write(for: Double(minutes * 60), each: pace, reading)
            } catch {
                failure.withLock { $0 = error }
            }
            done.signal()
        }
        for minute in 1...minutes {
            // At most a moment sooner, unless a writer failed.
            if done.wait(timeout: .now() + 60) == .success { done.signal() }
            if let failure = results.withLock(\.failure) { throw failure }
            let results = results.withLock { results in
                defer { results = Results(failure: results.failure) }
                return results
            }
            lines.append(
                Minute(results: results, residentBytes: bench.residentBytes, files: bench.openFiles)
            )
            printLine("minute \(minute): \(text(of: lines[minute - 1]))")
        }
        done.wait()
        if let failure = failure.withLock({ $0 }) { throw failure }
        return lines
    }

    private func text(of minute: Minute) -> String {
        let results = minute.results
        return """
            \(results.saves.count / 60) saves/s \(results.saves.summary), \
            fetches \(results.fetches.summary), \(results.pushCount / 60) pushes/s \
            \(results.pushes.summary), \(minute.residentBytes >> 20) MiB, \(minute.files) files
            """
    }

    private func compare(_ minutes: [Minute]) {
        // In the first one pages of memory are taken for the first time.
        let count = min(Self.compared, (minutes.count - 1) / 2)
        guard count > 0 else { return }
        func ratio(_ value: ([Minute]) -> Double) -> String {
            String(
                format: "%.2f",
                value(minutes.suffix(count)) / value(Array(minutes[1...count])))
        }
        func p99(_ of: KeyPath<Results, LatencyHistogram>) -> String {
            ratio { part in
                var all = LatencyHistogram()
                for minute in part { all.add(minute.results[keyPath: of]) }
                return all.percentile(0.99)
            }
        }
        let worst = minutes.max {
            $0.results.saves.percentile(0.99) < $1.results.saves.percentile(0.99)
        }
        printLine(
            """
            the last \(count) minutes to the first (without the very first): \
            memory \(ratio { $0.map { Double($0.residentBytes) }.reduce(0, +) }), \
            files \(ratio { $0.map { Double($0.files) }.reduce(0, +) }), \
            p99 of saves \(p99(\.saves)), of fetches \(p99(\.fetches)), of pushes \(p99(\.pushes))
            """)
        if let worst { printLine("the worst minute: \(text(of: worst))") }
    }

    private func overload(_ reading: Reading) throws {
        try sendTooMuch()
        let start = monotonicNow()
        try reading.waitForAll(atMost: Self.patience)
        let late = Double(monotonicNow() - start) / 1e9
        printLine(
            "all pushes were there \(String(format: "%.1f", late)) s after the last answer; "
                + "\(bench.residentBytes >> 20) MiB, \(bench.openFiles) files")
    }

    private func sendTooMuch() throws {
        let crowd = try RequestCrowd(Self.crowd, port: bench.program.port) { client in
            let body = createNotes(client..<client + 1, zone: "fan")
            let path = self.bench.path(
                "records/modify", token: self.users[client % self.users.count].token)
            return "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }
        try crowd.run(seconds: Self.overloadSeconds) { client, isSaved in
            if isSaved { users[client % users.count].didSave() }
        }
        let statuses = crowd.statuses.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }
        printLine(
            """
            overload, \(Self.crowd) connections for \(Int(Self.overloadSeconds)) s: \
            \(statuses.joined(separator: ", ")); saved in \(crowd.accepted.summary) ms, \
            refused in \(crowd.refused.summary) ms
            """)
    }
}

extension BenchServer {
    /// How many files the server has open.
    fileprivate var openFiles: Int {
        let files = try? FileManager.default.contentsOfDirectory(
            atPath: "/proc/\(process.processID)/fd")
        return files?.count ?? 0
    }
}
