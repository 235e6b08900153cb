// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// Signing in on the command line while a program runs, which is this test.
@Suite(.hangs) struct LoginTests {
    private let program: TidebellProgram
    private let home: URL

    init() throws {
        program = try Built.tidebell()
        home = program.dataFolder.appendingPathComponent("home")
    }

    /// Runs a command of the device; `input` is its standard input.
    private func device(_ arguments: [String], input: String? = nil) async throws -> [String] {
        let child = try ChildProcess(
            program.executable, arguments, environment: ["TIDEBELL_HOME": home.path],
            mergesErrors: true
        )
        if let input { try child.send(input) }
        var output: [String] = []
        for await line in child.lines { output.append(line) }
        _ = await child.waitUntilExit()
        return output
    }

    private var containerOption: [String] { ["--container", Household.container] }

    @Test("ACCT-2: a program that runs sees tidebell login, a switch and logout, each once")
    func aRunningProgram() async throws {
        let server = try await program.serve()
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let apiToken = try await program.token(["api-token", "create", "--name", "tests"])
        let anna = try await program.token(["user", "add", "anna"])
        _ = try await program.token(["user", "add", "ben"])

        let session = DeviceSession(variables: ["TIDEBELL_HOME": home.path])
        let container = CKContainer(identifier: Household.container, session: session)
        let changes = AccountChanges(of: session)
        #expect(try await container.accountStatus() == .noAccount)

        let address = ["--server", program.address]
        let file = program.dataFolder.appendingPathComponent("api-token").path
        try apiToken.write(toFile: file, atomically: true, encoding: .utf8)
        let signedIn =
            "anna is signed in to \(Household.container) (development) at \(program.address)."
        #expect(
            try await device(
                ["login"] + containerOption + address + [
                    "--api-token-file", file, "--token-file", "-",
                ],
                input: anna
            ) == [signedIn]
        )
        try await changes.wait(for: 1)
        #expect(try await container.accountStatus() == .available)
        let annasID = try await container.userRecordID()
        let zone = CKRecordZone(zoneName: "Annas")
        _ = try await container.privateCloudDatabase.save(zone)

        #expect(
            try await device(["whoami"])
                == ["anna  \(Household.container) (development)  \(program.address)  available"]
        )
        try await setPassword("correct horse", of: "ben")
        let bens = try await device(
            ["login"] + containerOption + [
                "--server", program.address, "--user", "ben", "--password-stdin",
            ],
            input: "correct horse"
        )
        #expect(
            bens
                == [
                    "ben is signed in to \(Household.container) (development) at \(program.address)."
                ]
        )
        try await changes.wait(for: 2)
        #expect(try await container.userRecordID() != annasID)
        #expect(try await container.privateCloudDatabase.allRecordZones().count == 1)

        #expect(
            try await device(["logout"] + containerOption)
                == ["ben is signed out of \(Household.container) (development)."]
        )
        try await changes.wait(for: 3)
        #expect(try await container.accountStatus() == .noAccount)
        let warned = try await device(
            ["login"] + containerOption + address + ["--api-token", apiToken, "--token", anna]
        )
        #expect(warned.count == 2 && warned.last == signedIn)
        #expect(warned.first?.hasPrefix("A token on the command line can be read") == true)
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }

    @Test("M7: a login at an address without TLS beyond this machine warns what that means")
    func withoutTLS() async throws {
        let server = try await program.serve(arguments: ["--host", "0.0.0.0"])
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let apiToken = try await program.token(["api-token", "create", "--name", "tests"])
        let file = program.dataFolder.appendingPathComponent("api-token").path
        try apiToken.write(toFile: file, atomically: true, encoding: .utf8)
        let anna = try await program.token(["user", "add", "anna"])
        // This machine, by an address that does not show it.
        let address = "http://0.0.0.0:\(program.port)"
        let lines = try await device(
            ["login"] + containerOption
                + ["--server", address, "--api-token-file", file, "--token-file", "-"],
            input: anna
        )
        #expect(
            lines == [
                "\(address) has no TLS: the password or token, and all data, are sent unencrypted, "
                    + "and others on the network can read them. Use an https:// address.",
                "anna is signed in to \(Household.container) (development) at \(address).",
            ]
        )
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }

    @Test("What goes wrong at a login is one sentence with what to do")
    func mistakes() async throws {
        let server = try await program.serve()
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let apiToken = try await program.token(["api-token", "create", "--name", "tests"])
        let login = ["login"] + containerOption + ["--server", program.address]
        let rows: [([String], String)] = [
            (login + ["--token", "x"], "The API token of the container is missing"),
            (login + ["--api-token", "no", "--token", "x"], "The API token is not known"),
            (
                login + ["--api-token", apiToken, "--user", "nobody", "--password-stdin"],
                "The user name or the password is wrong"
            ),
            (
                login + ["--api-token", apiToken, "--token", "x"],
                "it was made for another container"
            ),
            (
                ["login"] + containerOption
                    + ["--server", "http://127.0.0.1:1", "--api-token", "a", "--token", "x"],
                "The server http://127.0.0.1:1 cannot be reached"
            ),
            (["login", "--token", "x"], "Name the container, such as"),
            (["logout", "--all"], "No user is signed in"),
            (["logout"], "No user is signed in"),
            (["whoami"], "No user is signed in"),
            (login, "The API token of the container is missing"),
            (login + ["--user", "ben", "--token", "x"], "Use only one of --user NAME"),
        ]
        for (arguments, sentence) in rows {
            let input = arguments.contains("--password-stdin") ? "wrong password" : nil
            let output = try await device(arguments, input: input).joined(separator: "\n")
            #expect(output.contains(sentence), "\(arguments): \(output)")
        }
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }

    @Test("The first run's tokens are written for the owner where no terminal shows them")
    func firstRunFile() async throws {
        let server = try await program.serve()
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let path = program.dataFolder.appendingPathComponent("first-run.txt").path
        var output: [String] = []
        for await line in server.lines {
            output.append(line)
            if line.contains("The tokens are in") { break }
        }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let token = try #require(text.firstMatch(of: /TIDEBELL_API_TOKEN=([0-9a-f]{64})/)?.1)
        #expect(!output.joined().contains(token))
        #expect(text.contains("The web token is valid in all containers: it is for your own use;"))
        #expect(output.contains { $0.contains(path) })
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }

    private func setPassword(_ password: String, of user: String) async throws {
        let output = try await device(
            [
                "user", "password", user, "--password-stdin", "--data", program.dataFolder.path,
            ],
            input: password
        )
        #expect(
            output == [
                "The user '\(user)' has a new password; 1 session ended, within seconds "
                    + "on a running server."
            ]
        )
    }
}

/// How often an app was notified that its account changed.
private final class AccountChanges: @unchecked Sendable {
    // Sendable: the count is behind the lock; the token is given back only.
    private let lock = NSLock()
    private var count = 0
    private var token: (any NSObjectProtocol)?

    init(of session: DeviceSession) {
        token = NotificationCenter.default.addObserver(
            forName: .CKAccountChanged, object: nil, queue: nil
        ) { [weak self] notification in
            guard notification.isOf(session) else { return }
            self?.add()
        }
    }

    deinit {
        if let token { NotificationCenter.default.removeObserver(token) }
    }

    private func add() {
        lock.lock()
        defer { lock.unlock() }
        count += 1
    }

    private var current: Int {
        lock.lock()
        defer { lock.unlock() }
        return count
    }

    /// Waits until the app was notified so often; more often is a failure.
    func wait(for expected: Int) async throws {
        await eventually { current >= expected }
        #expect(current == expected)
    }
}
