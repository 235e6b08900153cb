// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellProcesses

/// A device of the story, seen from outside: its process and what it reported.
actor DemoDevice {
    nonisolated let name: String
    private let process: ChildProcess
    private var answers: [Event] = []
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// Every push the device received and every fetch it made, in order.
    private(set) var log: [Event] = []
    private var reader: Task<Void, Never>?

    /// Starts a device: a process with a home of its own.
    init(
        name: String, home: URL, server: String, apiToken: String, webAuthToken: String
    ) async throws {
        self.name = name
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        process = try ChildProcess(
            ChildProcess.buildFolder.appendingPathComponent("feed-demo"), ["device"],
            environment: [
                "HOME": home.path, "CFFIXED_USER_HOME": home.path, "TIDEBELL_SERVER": server,
                "TIDEBELL_API_TOKEN": apiToken, "TIDEBELL_WEB_AUTH_TOKEN": webAuthToken,
            ]
        )
        reader = Task { [weak self, lines = process.lines] in
            for await line in lines { await self?.received(line) }
        }
        _ = try await answer()
    }

    /// Has the device do something; returns its answer.
    @discardableResult
    func perform(_ words: String...) async throws -> Event {
        try process.send(words.joined(separator: "\t"))
        return try await answer()
    }

    /// Every push the device received.
    var pushes: [Event] { log.filter { $0.kind == .push } }

    /// Every record change or deletion it fetched.
    var fetched: [String] { log.filter { $0.kind == .fetched }.flatMap(\.lines) }

    /// Waits until the device has received `count` pushes in all and fetched
    /// after each of them.
    func wait(pushes count: Int) async throws {
        try await wait("\(count) pushes, and a fetch after each") {
            self.log.count { $0.kind == .fetched } >= count
        }
    }

    /// Puts the device to sleep (SIGSTOP) or wakes it.
    func sleep(_ sleeps: Bool) {
        process.signal(sleeps ? SIGSTOP : SIGCONT)
    }

    /// Ends the device.
    func quit() async throws {
        try process.send(Command.Verb.quit.rawValue)
        _ = await process.waitUntilExit()
    }

    private func answer() async throws -> Event {
        try await wait("an answer") { !self.answers.isEmpty }
        let event = answers.removeFirst()
        guard event.kind != .failed else {
            throw ProcessFailure(description: "device \(name): \(event.text)")
        }
        return event
    }

    private func received(_ line: String) {
        guard let event = try? JSONDecoder().decode(Event.self, from: Data(line.utf8)) else {
            return
        }
        switch event.kind {
        case .push, .fetched: log.append(event)
        case .ready, .done, .failed: answers.append(event)
        }
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    private func wait(_ what: String, until condition: () -> Bool) async throws {
        let deadline = Date().addingTimeInterval(Self.patience)
        let alarm = Task { [weak self] in
            try? await Task.sleep(for: .seconds(Self.patience))
            await self?.wake()
        }
        defer { alarm.cancel() }
        while !condition() {
            guard Date() < deadline else {
                throw ProcessFailure(
                    description:
                        "device \(name) waited \(Int(Self.patience)) s for \(what); it has "
                        + "\(pushes.count) pushes and \(fetched.count) changes"
                )
            }
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    private func wake() {
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    /// Seconds after which something that should come has not come, on whatever machine.
    private static let patience: TimeInterval = 600
}
