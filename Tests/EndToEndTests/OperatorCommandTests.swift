// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// What the commands print for users and tokens.
@Suite("The operator's commands", .hangs)
struct OperatorCommandTests {
    private let program: TidebellProgram

    init() throws {
        program = try Built.tidebell()
    }

    private func clean() {
        // What a test could not make need not be removed.
        try? FileManager.default.removeItem(at: program.dataFolder)
    }

    /// Runs a command with its output on a full disk; returns its error.
    private func runWithFullOutput(
        _ arguments: [String], input: String? = nil
    ) async throws -> String {
        let words = [program.executable.path] + arguments + ["--data", program.dataFolder.path]
        let command = words.map { "'\($0)'" }.joined(separator: " ") + " >/dev/full"
        let child = try ChildProcess(
            URL(fileURLWithPath: "/bin/sh"), ["-c", command], mergesErrors: true
        )
        if let input { try child.send(input) }
        var lines: [String] = []
        for await line in child.lines { lines.append(line) }
        #expect(await child.waitUntilExit() == 1)
        return lines.joined(separator: "\n")
    }

    /// Runs a command of a device; returns its lines.
    private func device(_ arguments: [String], input: String? = nil) async throws -> [String] {
        let child = try ChildProcess(
            program.executable, arguments,
            environment: ["TIDEBELL_HOME": program.dataFolder.path + "/home"], mergesErrors: true
        )
        if let input { try child.send(input) }
        var lines: [String] = []
        for await line in child.lines { lines.append(line) }
        _ = await child.waitUntilExit()
        return lines
    }

    /// What a command lists, by ID; each time is `TIME`.
    private func listed(_ command: [String]) async throws -> [String: String] {
        var listed: [String: String] = [:]
        for line in try await program.run(command) {
            let parts = try #require(line.wholeMatch(of: /([0-9a-f]{8,})  (.+)/), "\(line)")
            listed[String(parts.1)] = String(parts.2).replacing(
                /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/, with: "TIME")
        }
        return listed
    }

    /// Asks the server; returns the status of the answer.
    private func get(_ path: String, bearing token: String? = nil) async throws -> Int {
        let server = try #require(URL(string: program.address))
        return try await HTTPTransport(server: server, leastTimeout: .patience).send(
            TransportRequest(
                method: "GET", path: path,
                headers: token.map { [("Authorization", "Bearer \($0)")] } ?? [], body: []
            ),
            timeout: .patience
        ).status
    }

    @Test("H3: lists have each token with name, scope and last use, and the ID by which it ends")
    func lists() async throws {
        defer { clean() }
        let container = ["--container", Household.container]
        let anna = try await program.token(["user", "add", "anna", "--new-cloud"])
        _ = try await program.token(["user", "token", "anna"] + container)
        let apps = try await program.token(["api-token", "create", "--name", "apps"])
        let page = ["--name", "page", "--environment", "production", "--days", "1"]
        _ = try await program.token(["api-token", "create"] + container + page)
        let ops = try await program.token(["admin-token", "create", "--name", "ops"])
        _ = try await program.token([
            "admin-token", "create", "--name", "audit", "--days", "1", "--only", "metrics",
        ])
        let kinds: [(list: [String], end: [String], used: String, other: String, none: String)] = [
            (
                ["api-token", "list"], ["api-token", "revoke"],
                "apps  all containers  made TIME, USE, does not expire",
                "page  \(Household.container) (production)  made TIME, USE, expires TIME",
                "There are no tokens; make one: tidebell api-token create"
            ),
            (
                ["admin-token", "list"], ["admin-token", "revoke"],
                "ops  all containers  made TIME, USE, does not expire",
                "audit  all containers  made TIME, USE, expires TIME, for metrics alone",
                "There are no tokens; make one: tidebell admin-token create"
            ),
            (
                ["user", "sessions", "anna"], ["user", "sign-out", "anna", "--session"],
                "token  all containers  made TIME, USE, expires TIME",
                "token  \(Household.container) (development)  made TIME, USE, expires TIME",
                "The user 'anna' has no sessions."
            ),
        ]
        func text(_ line: String, _ use: String) -> String { line.replacing("USE", with: use) }
        for kind in kinds {
            let lines = try await listed(kind.list).values.sorted()
            #expect(lines == [kind.used, kind.other].map { text($0, "no use recorded") }.sorted())
        }
        let server = try await program.serve()
        let name = "\(Household.container)/development"
        let query = "ckAPIToken=\(apps)&ckWebAuthToken=\(anna)"
        #expect(try await get("/database/1/\(name)/private/zones/list?\(query)") == 200)
        #expect(try await get("/admin/1/\(name)/push/explain?record=r", bearing: ops) == 200)
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
        for kind in kinds {
            let (used, other) = (text(kind.used, "used TIME"), text(kind.other, "no use recorded"))
            let lines = try await listed(kind.list)
            #expect(lines.values.sorted() == [used, other].sorted())
            let ids = lines.sorted { $0.value == used && $1.value != used }.map(\.key)
            _ = try await program.run(kind.end + [try #require(ids.first)])
            #expect(try await listed(kind.list) == [try #require(ids.last): other])
            _ = try await program.run(kind.end + [try #require(ids.last)])
            let none = try await program.run(kind.list)
            #expect(none.count == 1 && none[0].hasPrefix(kind.none), "\(none)")
        }
    }

    @Test("H4: what is printed of a new web token says where it is good")
    func scopes() async throws {
        defer { clean() }
        let everywhere = "valid for 365 days, in all containers, for your own use;"
        for (command, scope) in [
            (["user", "add", "anna", "--new-cloud"], everywhere),
            (["user", "token", "anna"], everywhere),
            (
                ["user", "token", "anna", "--days", "1", "--container", Household.container],
                "valid for 1 day, in \(Household.container) (development) only;"
            ),
        ] {
            let printed = try await program.run(command).joined(separator: "\n")
            #expect(printed.contains("A web token for 'anna', \(scope)"), "\(printed)")
        }
    }

    @Test("Output that cannot be written hides nothing that was done, nor how to undo it")
    func fullOutput() async throws {
        defer { clean() }
        _ = try await program.run(["user", "add", "anna", "--new-cloud"])
        let rows: [(command: [String], undo: Regex<Substring>)] = [
            (["user", "add", "zed"], /tidebell user sign-out zed/),
            (["api-token", "create"], /tidebell api-token revoke [0-9a-f]{8,}/),
            (["admin-token", "create"], /tidebell admin-token revoke [0-9a-f]{8,}/),
            (["user", "token", "anna"], /tidebell user sign-out anna --session [0-9a-f]{8,}/),
            (
                ["webhook", "add", Household.container, "https://receiver.example/hook"],
                /tidebell webhook remove 1/
            ),
        ]
        for (command, undo) in rows {
            let text = try await runWithFullOutput(command)
            #expect(text.hasPrefix("Error: The output could not be written: "), "\(text)")
            #expect(text.contains("could not be printed"), "\(text)")
            let way = try #require(text.firstMatch(of: undo)?.output, "\(text)")
            _ = try await program.run(way.split(separator: " ").dropFirst().map(String.init))
        }
        let password = try await runWithFullOutput(
            ["user", "password", "anna", "--password-stdin"], input: "correct horse"
        )
        #expect(password.contains("This was done: The user 'anna' has a new password"))
        #expect(try await program.run(["user", "list"]) == ["anna", "zed"])
    }

    @Test("Removing and disabling print what there is, what was so already and what to do first")
    func removing() async throws {
        defer { clean() }
        _ = try await program.run(["user", "add", "empty", "--new-cloud"])
        func lastLine(_ arguments: [String]) async throws -> String {
            try await program.run(arguments).last ?? ""
        }
        await #expect(
            performing: { _ = try await program.run(["user", "erase", "empty"]) },
            throws: { "\($0)".contains("remove them first, with tidebell user remove empty") }
        )
        let disabled = try await lastLine(["user", "disable", "empty"])
        #expect(disabled.contains("1 session or token ended;"), "\(disabled)")
        #expect(
            try await lastLine(["user", "disable", "empty"])
                == "The user 'empty' is disabled already.")
        let token = try await program.run(["user", "token", "empty"])
        #expect(token.last?.contains("is refused until you run tidebell user enable") == true)
        #expect(try await lastLine(["user", "enable", "empty"]).hasPrefix("Enabled the user"))
        #expect(
            try await lastLine(["user", "enable", "empty"])
                == "The user 'empty' is enabled already.")
        #expect(
            try await lastLine(["user", "remove", "empty"]).hasSuffix("They had stored nothing."))
    }

    @Test(
        "M8: erasing a person prints what went, with --erase-data at once or with user erase later",
        arguments: [true, false])
    func erasing(atOnce: Bool) async throws {
        defer { clean() }
        let server = try await program.serve()
        let anna = try await Household(program: program, user: "anna")
        try await anna.prepare(zone: "Feed")
        for _ in 0..<2 { try await anna.save() }
        _ = try await anna.saveUnnamed("a file")
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
        if !atOnce {
            let kept = try await program.run(["user", "remove", "anna"])
            #expect(kept.last?.contains("is kept. To erase it: tidebell user erase ") == true)
        }
        let verb = atOnce ? ["remove", "anna", "--erase-data"] : ["erase", "anna"]
        let erased = try await program.run(["user"] + verb).last ?? ""
        #expect(
            erased
                == "Erased: 3 records, 2 zones, 1 file, 1 subscription, 4 kept answers, "
                + "the user of 1 container."
        )
    }

    @Test("A device whose session the operator ended reports that, and signs out of it")
    func endedSession() async throws {
        defer { clean() }
        let server = try await program.serve()
        let apiToken = try await program.token(["api-token", "create"])
        let file = program.dataFolder.appendingPathComponent("api-token").path
        try apiToken.write(toFile: file, atomically: true, encoding: .utf8)
        let anna = try await program.token(["user", "add", "anna"])
        let signedIn = try await device(
            [
                "login", "--container", Household.container, "--server", program.address,
                "--api-token-file", file, "--token-file", "-",
            ], input: anna
        )
        #expect(signedIn.count == 1)
        #expect(try await program.run(["user", "sign-out", "anna"]).count == 1)
        let status = try await device(["whoami"]).joined()
        #expect(
            status.hasSuffix(
                "the session has ended; sign in again: tidebell login --container "
                    + "\(Household.container) --user anna"
            ), "\(status)"
        )
        #expect(
            try await device(["logout"])
                == ["anna is signed out of \(Household.container) (development)."])
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }

    @Test("Serve prints where it listens, the URL for clients, and that the port has no TLS")
    func listening() async throws {
        defer { clean() }
        let child = try ChildProcess(
            program.executable,
            [
                "serve", "--host", "0.0.0.0", "--port", "0", "--public-url",
                "https://cloud.example.org", "--data", program.dataFolder.path,
            ], mergesErrors: true
        )
        var lines: [String] = []
        for await line in child.lines {
            lines.append(line)
            if line.hasPrefix("Tidebell is listening") { break }
        }
        child.signal(SIGTERM)
        #expect(await child.waitUntilExit() == 0)
        let warning = lines.first { $0.hasPrefix("Listening at 0.0.0.0: the port itself") }
        #expect(warning?.contains("has no TLS") == true)
        let ports = try #require(
            lines.last?.firstMatch(
                of: /port (\d+) of all addresses \(0\.0\.0\.0\), here http:\/\/127\.0\.0\.1:(\d+)/
            )
        )
        #expect(ports.1 == ports.2 && ports.1 != "0")
        #expect(lines.last?.contains("; clients use https://cloud.example.org.") == true)
        let file = program.dataFolder.appendingPathComponent("first-run.txt").path
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.contains("--token-file -") && !text.contains("shown only now"))
    }

    @Test("SHARE-22: addresses of a user are added, listed and removed")
    func addresses() async throws {
        defer { clean() }
        _ = try await program.run(["user", "add", "anna", "--new-cloud"])
        #expect(
            try await program.run(["user", "address", "add", "anna", "Anna@Example.org"])
                == ["The user 'anna' has the address anna@example.org."])
        _ = try await program.run([
            "user", "address", "add", "anna", "+49 170 1234567", "--unverified",
        ])
        #expect(
            try await program.run(["user", "address", "list", "anna"])
                == ["anna@example.org", "+491701234567  not verified"])
        #expect(
            try await program.run(["user", "address", "remove", "anna", "ANNA@example.org"])
                == ["The user 'anna' no longer has the address anna@example.org."])
        #expect(
            try await program.run(["user", "address", "list", "anna"])
                == ["+491701234567  not verified"])
    }
}
