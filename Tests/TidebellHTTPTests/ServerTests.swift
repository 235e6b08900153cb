// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellScheduling
import TidebellServer
import TidebellTestStores
import TidebellSQLite
import Logging
import ServiceLifecycle

@Suite("The server and its data folder", .hangs)
struct ServerTests {
    /// A folder that goes with the test.
    private final class Folder: Sendable {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-server-\(UUID().uuidString)")

        deinit { try? FileManager.default.removeItem(at: url) }

        var configuration: ServerConfiguration {
            var configuration = ServerConfiguration(dataFolder: url)
            configuration.stores = TestStores.factory
            configuration.port = 0
            configuration.logLevel = .critical
            return configuration
        }
    }

    @Test("The first run makes a user and an API token, later runs make nothing")
    func firstRun() async throws {
        let folder = Folder()
        let server = try await TidebellServer(folder.configuration)
        let first = try #require(try await server.cloud.accounts.prepareFirstRun())
        #expect(first.userName == "me")
        #expect(first.apiToken.wholeMatch(of: /[0-9a-f]{64}/) != nil)
        #expect(first.webToken.wholeMatch(of: /[0-9a-f]{64,68}/) != nil)
        #expect(try await server.cloud.accounts.prepareFirstRun() == nil)
        #expect(try await server.cloud.accounts.names() == ["me"])
        try await server.cloud.store.close()
    }

    @Test(
        "What others may use of a data folder is named with what to do; a new one is closed",
        .onSQLite)
    func permissions() async throws {
        let folder = Folder()
        let server = try await TidebellServer(folder.configuration)
        let data = DataFolder(folder.url)
        #expect(data.permissionWarnings().isEmpty)
        try await server.cloud.store.close()
        let path = folder.url.path
        for (name, mode) in [("", 0o755), ("/tidebell.sqlite", 0o640)] {
            try FileManager.default.setAttributes(
                [.posixPermissions: mode], ofItemAtPath: path + name
            )
        }
        #expect(
            data.permissionWarnings() == [
                "Others on this machine may use \(path) (mode 755); to change that: "
                    + "chmod 700 \(path)",
                "Others on this machine may use \(path)/tidebell.sqlite (mode 640); to change "
                    + "that: chmod 600 \(path)/tidebell.sqlite",
            ])
    }

    @Test(
        "M7: serving or signing in without TLS beyond this machine warns what that means",
        arguments: [
            ("127.0.0.1", nil, false), ("localhost", nil, false), ("::1", nil, false),
            ("127.8.8.8", nil, false), ("0.0.0.0", nil, true), ("::", nil, true),
            ("192.168.1.5", nil, true), ("127.example.org", nil, true),
            ("0.0.0.0", "https://cloud.example.org", true),
            ("127.0.0.1", "https://cloud.example.org", false),
            ("0.0.0.0", "http://cloud.example.org", true),
        ] as [(String, String?, Bool)]
    )
    func plainText(host: String, publicURL: String?, isWarned: Bool) {
        #expect((PlainText.warning(servingAt: host, publicURL: publicURL) != nil) == isWarned)
        guard publicURL == nil else { return }
        let name = host.contains(":") ? "[\(host)]" : host
        #expect((PlainText.warning(signingInAt: "http://\(name):8642") != nil) == isWarned)
        #expect(PlainText.warning(signingInAt: "https://\(name)") == nil)
    }

    @Test("Users can be added and removed; what cannot be is reported in one sentence")
    func users() async throws {
        let api = try await TestAPI()
        let accounts = api.cloud.accounts
        _ = try await accounts.add(named: "zoë@example.org")
        #expect(try await accounts.names() == ["me", "zoë@example.org"])
        await #expect(throws: OperatorError(.taken, .user, "There is already a user 'me'.")) {
            try await accounts.add(named: "me")
        }
        await #expect(throws: OperatorError(.unknown, .user, "There is no user 'you'.")) {
            try await accounts.remove(named: "you")
        }
        await #expect(throws: OperatorError(.unknown, .user, "There is no user 'you'.")) {
            try await accounts.makeWebToken(for: "you")
        }
        for name in ["", "two words", String(repeating: "x", count: 65), "tab\t"] {
            await #expect(throws: OperatorError.self) { try await accounts.add(named: name) }
        }
    }

    @Test("A further token of a user is the same user, and the first stays valid")
    func furtherToken() async throws {
        let api = try await TestAPI()
        let token = try await api.cloud.accounts.makeWebToken(for: "me")
        let target = api.target("public/users/caller")
        let further = try await api.send("GET", target.replacing(api.webToken, with: token))
        #expect(further.text == #"{"userRecordName":"\#(api.user)"}"#)
        #expect(try await api.send("GET", target).text == further.text)
    }

    @Test("A folder that a server uses cannot be served twice", .onSQLite)
    func inUse() async throws {
        let folder = Folder()
        let server = try await TidebellServer(folder.configuration)
        let error = await #expect(throws: OperatorError.self) {
            try await TidebellServer(folder.configuration)
        }
        #expect(error?.description.hasSuffix("stop the other server first.") == true)
        try await server.cloud.store.close()
        let next = try await TidebellServer(folder.configuration)
        try await next.cloud.store.close()
    }

    @Test("A port that is taken is reported in one sentence, and the folder is free again")
    func portInUse() async throws {
        let folders = [Folder(), Folder()]
        let first = try await TidebellServer(folders[0].configuration)
        let (running, started) = AsyncStream.makeStream(of: Int.self)
        let services = first.serviceGroup(until: []) { started.yield($0.port) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await first.run(services) }
            for await port in running {
                var configuration = folders[1].configuration
                configuration.port = port
                let second = try await TidebellServer(configuration)
                let sentence =
                    "Port \(port) of 127.0.0.1 is already in use; choose another one with --port."
                await #expect(throws: OperatorError(sentence)) {
                    try await second.run(second.serviceGroup(until: []) { _ in })
                }
                break
            }
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
        let again = try await TidebellServer(folders[1].configuration)
        try await again.cloud.store.close()
    }

    @Test(
        "TOK-22: maintenance removes old tombstones, and tokens from before them expire", .onSQLite,
        arguments: [false, true])
    func maintenance(whileAnotherStepFails isBroken: Bool) async throws {
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
        let log = TestLog(level: .warning)
        let maintenance = Maintenance(
            store: api.cloud.store, limits: Limits(),
            time: Time(now: { api.clock.instant }, clock: api.clock),
            logger: log.logger
        )
        func fetch() async throws -> String {
            try await api.post(
                "private/changes/zone",
                #"{"zones":[{"zoneID":{"zoneName":"Notes"},"syncToken":"\#(token)"}]}"#
            ).text
        }
        if isBroken {
            let file = api.folder.appendingPathComponent(SQLiteFactory.fileName)
            let queue = try DatabaseQueue(path: file.path)
            try await queue.write { try $0.execute(sql: "ALTER TABLE told RENAME TO lost") }
            try queue.close()
        }
        await maintenance.round()
        #expect(try await fetch().contains(#""deleted":true"#))
        api.clock.advance(by: Limits().tombstoneRetention + .seconds(1))
        await maintenance.round()
        #expect(try await fetch().contains("client knowledge differs from server knowledge"))
        // A failure is logged once.
        #expect(log.detailedLines.count == (isBroken ? 1 : 0))
    }
}
