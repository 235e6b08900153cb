// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport
import Testing
import TidebellProcesses
import TidebellSQLite

/// How an operator configures `tidebell serve`.
@Suite(.hangs)
struct ServeOptionTests {
    private let program: TidebellProgram

    init() throws { program = try Built.tidebell() }

    @Test("The log has no line that nobody can read")
    func debugLines() async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let server = try await program.serve(arguments: ["--log-level", "debug"])
        server.signal(SIGTERM)
        var longest = ""
        for await line in server.lines where line.utf8.count > longest.utf8.count {
            longest = line
        }
        #expect(await server.waitUntilExit() == 0)
        #expect((1...1000).contains(longest.utf8.count), "\(longest)")
    }

    @Test(
        "A server that is to stop says so for a while and goes on; a second signal stops it at once"
    )
    func stopNotice() async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let server = try await program.serve(arguments: ["--stop-notice", "300"])
        let transport = HTTPTransport(server: try #require(URL(string: program.address)))
        func status(_ path: String) async throws -> Int {
            let request = TransportRequest(method: "GET", path: path)
            return try await transport.send(request, timeout: .patience).status
        }
        #expect(try await status("/ready") == 200)
        server.signal(SIGTERM)
        try await eventually { try await status("/ready") == 503 }
        #expect(try await status("/version") == 200)
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }

    @Test(
        "What a node or a database with standbys needs is named, and what a node may not do",
        arguments: [
            (["--node-name", "a"], "it needs --store."),
            (["--node-name", "a b"], "must have 1 to 63 letters"),
            (["--lossless-failover"], "it needs --store."),
            (
                ["--node-name", "a", "--store", "postgres://nowhere", "--accept-lost-keys"],
                "is for a server that is alone"
            ),
        ])
    func wrongNode(options: [String], reason: String) async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let error = try await #require(throws: ProcessFailure.self) {
            _ = try await program.run(["serve"] + options)
        }
        #expect(error.description.contains(reason), "\(error)")
    }

    @Test(
        "A bucket beside a file of records, a bucket that is none, and one without credentials are refused",
        arguments: [
            (["--asset-store", "s3://files/a"], "it needs --store."),
            (
                ["--asset-store", "files", "--store", "postgres://none.invalid/none"],
                "The bucket must be given as s3://BUCKET/PREFIX"
            ),
            (["--s3-endpoint", "https://s3.example"], "need --asset-store."),
            (
                ["--asset-store", "s3://files/a", "--store", "postgres://none.invalid/none"],
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set"
            ),
        ])
    func wrongBucket(options: [String], reason: String) async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        var program = program
        // Neither a database nor credentials of whoever runs the tests.
        program.environment = [
            "HOME": program.dataFolder.path, "AWS_SHARED_CREDENTIALS_FILE": "",
            "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "TIDEBELL_STORE": "",
        ]
        let error = try await #require(throws: ProcessFailure.self) {
            _ = try await program.run(["serve"] + options)
        }
        #expect(error.description.contains(reason), "\(error)")
    }

    @Test("M4: a start names the SQLite in use if it has the WAL-reset defect, once")
    func walResetDefect() async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let server = try await program.serve()
        server.signal(SIGTERM)
        var lines: [String] = []
        for await line in server.lines where line.contains("has the WAL-reset defect") {
            lines.append(line)
        }
        #expect(await server.waitUntilExit() == 0)
        let version = SQLiteVersion.current
        #expect(lines.count == (version.hasWALResetDefect ? 1 : 0))
        #expect(lines.allSatisfy { $0.contains("sqlite=\(version)") })
    }

    @Test(
        "Fewer bytes than one request or answer needs are refused, with the least",
        arguments: [("--body-megabytes", 96), ("--body-megabytes-per-caller", 4)]
    )
    func tooFewBytes(option: String, least: Int) async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let error = try await #require(throws: ProcessFailure.self) {
            _ = try await program.run(["serve", option, String(least - 1)])
        }
        #expect(
            error.description.contains("\(option) must be \(least)M to 1024G ")
                && error.description.contains("not '\(least - 1)M'."), "\(error)"
        )
    }

    @Test(
        "A link to an app that cannot be one keeps the server from starting, and is named",
        arguments: [
            ("notes://{url}", "--share-app-url must be CONTAINER=URL, not 'notes://{url}'."),
            (
                "iCloud.org.example.notes=javascript:{url}",
                "--share-app-url: a link to an app does not begin with 'javascript:'."
            ),
        ])
    func wrongAppLink(link: String, problem: String) async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let error = try await #require(throws: ProcessFailure.self) {
            _ = try await program.run(["serve", "--share-app-url", link])
        }
        #expect(error.description.contains(problem), "\(error)")
    }

    @Test(
        "A command that is mistyped is refused with the nearest one",
        arguments: [
            (["serv"], "There is no command 'tidebell serv'. Did you mean `tidebell serve`?"),
            (
                ["user", "lst"],
                "There is no command 'tidebell user lst'. Did you mean `tidebell user list`?"
            ),
            (["api-tokens", "list"], "Did you mean `tidebell api-token`?"),
        ])
    func mistypedCommand(arguments: [String], problem: String) async throws {
        let error = try await #require(throws: ProcessFailure.self) {
            _ = try await program.run(arguments)
        }
        #expect(error.description.contains(problem), "\(error)")
    }

    @Test("A start says which folders above the data folder it made")
    func missingParents() async throws {
        let parent = program.dataFolder
        defer { try? FileManager.default.removeItem(at: parent) }
        var nested = program
        nested.dataFolder = parent.appendingPathComponent("a/b", isDirectory: true)
        for isNew in [true, false] {
            let server = try await nested.serve()
            server.signal(SIGTERM)
            var said: [String] = []
            for await line in server.lines where line.hasPrefix("Made for the data folder") {
                said.append(line)
            }
            #expect(await server.waitUntilExit() == 0)
            let sentence =
                "Made for the data folder, because it did not exist: \(parent.path), \(parent.path)/a. "
                + "If --data is mistyped, stop the server and remove it."
            #expect(said == (isNew ? [sentence] : []))
        }
    }

    @Test("M7: a start warns that others may use the folder, and that it listens without TLS")
    func warnings() async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        func start(_ arguments: [String]) async throws -> String {
            let server = try await program.serve(arguments: arguments)
            server.signal(SIGTERM)
            var lines: [String] = []
            for await line in server.lines { lines.append(line) }
            #expect(await server.waitUntilExit() == 0)
            return lines.joined(separator: "\n")
        }
        let folder = "Others on this machine may use \(program.dataFolder.path) (mode 755)"
        let plain = "Listening at 0.0.0.0 without TLS: passwords, tokens and records are"
        let first = try await start([])
        #expect(!first.contains("Others on this machine") && !first.contains("without TLS"))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: program.dataFolder.path)
        let second = try await start(["--host", "0.0.0.0"])
        #expect(second.contains(folder), "\(second)")
        #expect(second.contains(plain), "\(second)")
    }

    @Test("A limit that is set by its name bounds the server, and its error has the name")
    func limit() async throws {
        let server = try await program.serve(
            arguments: ["--limit", "zonesPerDatabase=2", "--limit", "requestsPerSecond=500"])
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let (_, database) = try await Household(program: program, user: "anna").database()
        // The default zone is one of them.
        try await database.save(CKRecordZone(zoneName: "one"))
        let error = try await #require(throws: CKError.self) {
            try await database.save(CKRecordZone(zoneName: "two"))
        }
        #expect(error.code == .limitExceeded)
        #expect(
            error.localizedDescription.contains(
                "would be one more than the 2 of the database (zonesPerDatabase)"), "\(error)")
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }

    @Test("A limit that there is not is refused before anything is made, with the nearest name")
    func unknownLimit() async throws {
        let error = try await #require(throws: ProcessFailure.self) {
            _ = try await program.run(["serve", "--limit", "userQuotas=5G"])
        }
        #expect(
            error.description.contains("There is no limit 'userQuotas'. Did you mean 'userQuota'?"))
        #expect(!FileManager.default.fileExists(atPath: program.dataFolder.path))
    }
}
