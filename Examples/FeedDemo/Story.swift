// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellProcesses

/// The story, act by act.
struct Story {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("tidebell-demo-\(ProcessInfo.processInfo.processIdentifier)")

    func run() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = TidebellProgram(
            executable: ChildProcess.buildFolder.appendingPathComponent("tidebell"),
            dataFolder: folder.appendingPathComponent("data"), port: try LoopbackPort.free()
        )
        let cast = try await raiseTheCurtain(program)
        try await subscribe(cast)
        try await showChanges(cast)
        try await restart(cast, program)
        try await settleAccounts(cast)
        try await explain(program)
    }

    // MARK: Acts

    private func raiseTheCurtain(_ program: TidebellProgram) async throws -> Cast {
        heading(
            "Tidebell: a record changes, the other device gets a push, and fetches what changed")
        let server = try await program.serve()
        line("server", "\(program.address), SQLite in \(program.dataFolder.path)")
        let apiToken = try await program.token(["api-token", "create", "--name", "demo"])
        let anna = try await program.token(["user", "add", "anna"])
        let otto = try await program.token(["user", "add", "otto"])
        func device(_ name: String, _ webAuthToken: String) async throws -> DemoDevice {
            try await DemoDevice(
                name: name, home: folder.appendingPathComponent(name), server: program.address,
                apiToken: apiToken, webAuthToken: webAuthToken
            )
        }
        let cast = Cast(
            server: server, a: try await device("A", anna), b: try await device("B", anna),
            c: try await device("C", otto)
        )
        line("A, B", "two devices of anna, each a process with its own HOME")
        line("C", "a device of otto")
        return cast
    }

    private func subscribe(_ cast: Cast) async throws {
        heading("1. B makes the zone; A and C subscribe, as on Apple's pages")
        for device in [cast.b, cast.c] { try await device.perform("zone") }
        line("B, C", "saved the zone \"Feed\", each in its own private database")
        for device in [cast.a, cast.b, cast.c] { try await device.perform("subscribe") }
        line("A, B, C", "saved CKDatabaseSubscription \"all-changes\" and")
        line("", "CKRecordZoneSubscription \"feed-changes\" with recordType = \"FeedItem\"")
        try await cast.a.perform("fetch")
        line("A", "fetched once, to have tokens")
    }

    private func showChanges(_ cast: Cast) async throws {
        heading("2. B saves, changes and deletes; A gets pushes and fetches")
        try await act(
            cast, "saved three FeedItems", changes: 3, pushes: 2,
            ["save", "FeedItem", "monday", "High tide", "tuesday", "Low tide", "friday", "Storm"]
        )
        try await act(
            cast, "changed FeedItem \"tuesday\"", changes: 1, pushes: 2,
            ["change", "tuesday", "Spring tide"]
        )
        try await act(
            cast, "deleted FeedItem \"friday\"", changes: 1, pushes: 2, ["delete", "friday"]
        )
    }

    private func restart(_ cast: Cast, _ program: TidebellProgram) async throws {
        heading("3. The server is killed and started again; A sleeps through a change")
        await cast.a.sleep(true)
        line("A", "put to sleep (SIGSTOP)")
        let server = await cast.server
        server.signal(SIGKILL)
        _ = await server.waitUntilExit()
        await cast.setServer(try await program.serve())
        line("server", "killed (SIGKILL) and started again on the same file")
        try await act(
            cast, "saved a FeedItem while A sleeps", changes: 1, pushes: 2,
            ["save", "FeedItem", "sunday", "Calm"]
        )
        try await act(
            cast, "saved a Comment, which is no FeedItem: \"feed-changes\" stays silent",
            changes: 1, pushes: 1, ["save", "Comment", "c1", "Bring boots"]
        )
    }

    private func settleAccounts(_ cast: Cast) async throws {
        heading("4. The balance")
        let a = try await cast.a.perform("state").lines
        let b = try await cast.b.perform("state").lines
        for record in a { line("A has", record) }
        try expect(a == b, "A and B differ: \(a) and \(b)")
        line("", "exactly what B has")
        let changes = await cast.changes
        let fetched = await cast.a.fetched.count
        try expect(fetched == changes, "A fetched \(fetched) changes of \(changes)")
        line("A", "fetched \(fetched) changes for the \(changes) B made: none twice, none missed")
        for device in [cast.b, cast.c] {
            let pushes = await device.pushes.count
            try expect(pushes == 0, "\(device.name) got \(pushes) pushes")
        }
        line("B", "made the changes: 0 pushes")
        line("C", "is another user's: 0 pushes")
        for device in [cast.a, cast.b, cast.c] { try await device.quit() }
        let server = await cast.server
        server.signal(SIGTERM)
        let status = await server.waitUntilExit()
        try expect(status == 0, "the server ended with \(status)")
        line("server", "stopped cleanly")
    }

    private func explain(_ program: TidebellProgram) async throws {
        let command = ["push", "explain", "c1"]
        heading(
            "5. Why did A get one push for the Comment, and B none?  tidebell "
                + command.joined(separator: " "))
        for text in try await program.run(command) {
            printLine(text.isEmpty ? "" : "  \(text)")
        }
        printLine(
            """

              Now run it yourself:   swift run tidebell serve
              The app's code above:  Examples/FeedDemo/FeedDevice.swift

            """
        )
    }

    // MARK: -

    /// Has B do something, then waits until A has received its pushes and has fetched.
    private func act(
        _ cast: Cast, _ text: String, changes: Int, pushes: Int, _ command: [String]
    ) async throws {
        let before = await cast.a.log.count
        let pushesBefore = await cast.a.pushes.count
        let done = try await cast.b.run(command)
        await cast.add(changes)
        line("B", "\(text) (\(String(format: "%.1f", done.milliseconds)) ms)")
        await cast.a.sleep(false)
        try await cast.a.wait(pushes: pushesBefore + pushes)
        for event in await cast.a.log[before...] {
            let delay = String(format: "%+.1f", (event.time - done.time) * 1000)
            switch event.kind {
            case .push: line("A", "\(event.text)   \(delay) ms after B's answer")
            default:
                let what = event.lines.isEmpty ? "nothing new" : event.lines.joined(separator: ", ")
                line("", "fetched \(what)")
            }
        }
        let total = await cast.a.pushes.count - pushesBefore
        try expect(total == pushes, "A got \(total) pushes where \(pushes) were due")
    }

    private func expect(_ condition: Bool, _ otherwise: String) throws {
        guard condition else { throw ProcessFailure(description: otherwise) }
    }

    private func heading(_ text: String) {
        printLine("\n\(text)\n")
    }

    private func line(_ who: String, _ text: String) {
        printLine("  \(who.padding(toLength: 8, withPad: " ", startingAt: 0)) \(text)")
    }
}

/// Everybody in the story.
actor Cast {
    private(set) var server: ChildProcess
    nonisolated let a: DemoDevice
    nonisolated let b: DemoDevice
    nonisolated let c: DemoDevice
    /// How many changes B made.
    private(set) var changes = 0

    init(server: ChildProcess, a: DemoDevice, b: DemoDevice, c: DemoDevice) {
        self.server = server
        self.a = a
        self.b = b
        self.c = c
    }

    func setServer(_ server: ChildProcess) {
        self.server = server
    }

    func add(_ count: Int) {
        changes += count
    }
}

extension DemoDevice {
    /// Has the device do something; returns its answer.
    func run(_ words: [String]) async throws -> Event {
        try await perform(words.joined(separator: "\t"))
    }
}
