// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import CloudKit

/// A device whose sessions are in a folder, and a server that knows tokens.
private struct Desk {
    let home: TemporaryFolder
    let transport: ScriptedTransport
    let session: DeviceSession
    let container: CKContainer
    /// How often the app was notified that the account changed.
    let posts = Locked(0)
    private let observer: Observer

    /// - Parameter users: Record names by web token.
    init(
        _ users: [String: String] = ["token-a": "_a", "token-a2": "_a", "token-b": "_b"],
        variables: [String: String] = [:],
        answer: ScriptedTransport.Script? = nil
    ) throws {
        home = try TemporaryFolder()
        transport = ScriptedTransport { sent, number in
            if let answer { return try await answer(sent, number) }
            guard let user = users[sent.query["ckWebAuthToken"] ?? ""] else { return .unauthorized }
            return .json(#"{"userRecordName":"\#(user)"}"#)
        }
        var environment = variables
        environment["TIDEBELL_HOME"] = home.url.path
        session = DeviceSession(
            configuration: try .load(environment: environment), transport: transport
        )
        container = CKContainer(identifier: "iCloud.notes", session: session)
        observer = Observer(posts, of: session)
    }

    func file() -> SessionFile { SessionFile(folder: home.url) }

    /// What `tidebell login` of another process does.
    func signIn(_ user: String, token: String) throws {
        let session = SignedInSession(
            container: "iCloud.notes", environment: "development",
            server: "http://127.0.0.1:8642", apiToken: "api", webAuthToken: token, user: user,
            userRecordName: "_\(user)"
        )
        try file().change { sessions in
            sessions.removeAll { $0.hasSameAddress(as: session) }
            sessions.append(session)
        }
    }

    func signOut() throws {
        try file().change { $0 = [] }
    }

    /// The number of posts, once all on their way have arrived.
    func postCount() async -> Int {
        await session.accounts.flush()
        return posts.current
    }

    /// Counts the notifications until it goes.
    private final class Observer: @unchecked Sendable {
        // Sendable: the token is given to the notification center only.
        private let token: any NSObjectProtocol

        init(_ posts: Locked<Int>, of session: DeviceSession) {
            token = NotificationCenter.default.addObserver(
                forName: .CKAccountChanged, object: nil, queue: nil
            ) { [weak session] notification in
                guard let session, notification.isOf(session) else { return }
                posts.withLock { $0 += 1 }
            }
        }

        deinit { NotificationCenter.default.removeObserver(token) }
    }
}

extension TransportResponse {
    fileprivate static let unauthorized = json(
        #"{"serverErrorCode":"AUTHENTICATION_REQUIRED","reason":"who?"}"#, status: 421
    )

    fileprivate func renewing(_ token: String) -> TransportResponse {
        var response = self
        response.headers.append(("X-Apple-CloudKit-Web-Auth-Token", token))
        return response
    }
}

@Suite(.hangs) struct DeviceAccountsTests {
    @Test("ACCT-2: signing in, switching and out by another process is reported once each")
    func anotherProcess() async throws {
        let desk = try Desk()
        #expect(try await desk.container.accountStatus() == .noAccount)
        try desk.signIn("a", token: "token-a")
        #expect(try await desk.container.userRecordID().recordName == "_a")
        #expect(await desk.postCount() == 1)
        try desk.signIn("b", token: "token-b")
        #expect(try await desk.container.userRecordID().recordName == "_b")
        #expect(await desk.postCount() == 2)
        #expect(try await desk.container.accountStatus() == .available)
        try desk.signOut()
        #expect(try await desk.container.accountStatus() == .noAccount)
        #expect(await desk.postCount() == 3)
    }

    @Test(
        "ACCT-2: an app that waits without asking is notified within a second",
        arguments: [true, false])
    func waiting(isDefault: Bool) async throws {
        let home = try TemporaryFolder()
        let clock = ManualClock()
        let session = DeviceSession(
            configuration: try .load(environment: ["TIDEBELL_HOME": home.url.path]),
            transport: ScriptedTransport(answering: "{}"),
            time: Time(now: Time.system.now, clock: clock),
            jitter: { 0 }
        )
        let container =
            isDefault
            ? session.makeDefaultContainer()
            : CKContainer(identifier: "iCloud.notes", session: session)
        var changes = session.accounts.changes().makeAsyncIterator()
        try SessionFile(folder: home.url).change { sessions in
            sessions.append(
                SignedInSession(
                    container: "iCloud.notes", environment: "development", server: "http://s",
                    apiToken: "api", webAuthToken: "t", user: "a", userRecordName: "_a"
                )
            )
        }
        await clock.untilSleeping()
        clock.advance(by: DeviceAccounts.watchInterval)
        await changes.next()
        #expect(session.accounts.account(of: "iCloud.notes")?.recordName == "_a")
        withExtendedLifetime(container) {}
    }

    @Test("ACCT-2: a default container that was there first is the one somebody signs in to")
    func defaultBeforeSigningIn() async throws {
        let desk = try Desk()
        let container = desk.session.makeDefaultContainer()
        #expect(container.containerIdentifier == nil)
        let code = await SyncErrorTests.code { _ = try await container.userRecordID() }
        #expect(code == .badContainer)
        try desk.signIn("a", token: "token-a")
        #expect(try await container.userRecordID().recordName == "_a")
        #expect(container.containerIdentifier == "iCloud.notes")
        #expect(await desk.postCount() == 1)
        // Another container does not change which one it is.
        try desk.file().change { sessions in
            var other = sessions[0]
            other.container = "iCloud.other"
            sessions.append(other)
        }
        #expect(try await container.userRecordID().recordName == "_a")
        try desk.signOut()
        #expect(container.containerIdentifier == "iCloud.notes")
        #expect(try await container.accountStatus() == .noAccount)
    }

    @Test("A renewed token is the same account: the app is not notified")
    func renewalIsSilent() async throws {
        let desk = try Desk { sent, _ in
            let answer = TransportResponse.json(#"{"userRecordName":"_a"}"#)
            return sent.query["ckWebAuthToken"] == "token-a" ? answer.renewing("token-a2") : answer
        }
        try desk.signIn("a", token: "token-a")
        for _ in 0..<3 { #expect(try await desk.container.accountStatus() == .available) }
        #expect(
            desk.transport.sent.map { $0.query["ckWebAuthToken"] }
                == ["token-a", "token-a2", "token-a2"]
        )
        #expect(try desk.file().read().map(\.webAuthToken) == ["token-a2"])
        // One for the sign-in.
        #expect(await desk.postCount() == 1)
    }

    @Test("Of two processes that renew the same token, the first counts")
    func renewedByTwo() async throws {
        let desk = try Desk()
        try desk.signIn("a", token: "token-a2")
        desk.session.accounts.renew("token-a", by: "token-a3", in: "iCloud.notes")
        #expect(try desk.file().read().map(\.webAuthToken) == ["token-a2"])
    }

    @Test("A token that another process renewed while a request was under way is read anew")
    func renewedByAnother() async throws {
        let home = Locked<Desk?>(nil)
        let desk = try Desk { sent, _ in
            guard sent.query["ckWebAuthToken"] == "token-a2" else {
                try home.current?.signIn("a", token: "token-a2")
                return .unauthorized
            }
            return .json(#"{"userRecordName":"_a"}"#)
        }
        home.current = desk
        defer { home.current = nil }
        try desk.signIn("a", token: "token-a")
        #expect(try await desk.container.accountStatus() == .available)
        #expect(desk.transport.sent.count == 2)
    }

    @Test("Work of one user is not sent for another, nor are answers handed over")
    func usersAreNotMixed() async throws {
        let home = Locked<Desk?>(nil)
        let desk = try Desk { sent, _ in
            try home.current?.signIn("b", token: "token-b")
            return .json(Answer.records(Answer.record("n")))
        }
        home.current = desk
        defer { home.current = nil }
        try desk.signIn("a", token: "token-a")
        let id = CKRecord.ID(recordName: "n", zoneID: CKRecordZone.ID(zoneName: "Notes"))
        let read = await Result { try await desk.container.privateCloudDatabase.record(for: id) }
        #expect(read.error?.code == .notAuthenticated)
        #expect(desk.transport.sent.count == 1)
        // Planned for a user who is gone by now.
        let operation = CKFetchRecordsOperation(recordIDs: [id])
        operation.account = AccountPin(
            account: DeviceAccount(server: "http://s", user: "_a", isRecordName: true)
        )
        let results = CallbackLog()
        operation.fetchRecordsResultBlock = { results.add(text($0)) }
        await desk.container.privateCloudDatabase.runToEnd(operation)
        #expect(results.lines.first?.hasPrefix("notAuthenticated: Another user") == true)
        #expect(desk.transport.sent.count == 1)
    }

    @Test("ACCT-3: public records are read without the user whom the server refuses")
    func publicReads() async throws {
        let desk = try Desk { sent, _ in
            guard sent.query["ckWebAuthToken"] == nil else { return .unauthorized }
            return .json(Answer.records(Answer.record("n", zone: "_defaultZone")))
        }
        try desk.signIn("a", token: "token-a")
        let id = CKRecord.ID(recordName: "n")
        let record = try await desk.container.publicCloudDatabase.record(for: id)
        #expect(record.recordID == id)
        let write = await Result {
            try await desk.container.publicCloudDatabase.save(CKRecord(recordType: "Note"))
        }
        #expect(write.error?.code == .notAuthenticated)
    }

    /// What the server answers to a token, the status, and the code of a request.
    private static let refusals: [(String, CKAccountStatus, CKError.Code)] = [
        ("", .noAccount, .notAuthenticated),
        (#","ext":{"ckCode":32}"#, .restricted, .notAuthenticated),
        (#","ext":{"ckCode":36}"#, .temporarilyUnavailable, .accountTemporarilyUnavailable),
    ]

    @Test(
        "ACCT-1, ACCT-4: a refused account has a status, and its change back is reported",
        arguments: 0..<3)
    func refusals(row: Int) async throws {
        let (detail, status, code) = Self.refusals[row]
        let isRefused = Locked(false)
        let desk = try Desk { _, _ in
            guard isRefused.current else { return .json(#"{"userRecordName":"_a"}"#) }
            return .json(#"{"serverErrorCode":"AUTHENTICATION_REQUIRED"\#(detail)}"#, status: 421)
        }
        try desk.signIn("a", token: "token-a")
        #expect(try await desk.container.accountStatus() == .available)
        isRefused.current = true
        let result = await Result { try await desk.container.privateCloudDatabase.allRecordZones() }
        #expect(result.error?.code == code)
        #expect(try await desk.container.accountStatus() == status)
        #expect(await desk.postCount() == 2)
        isRefused.current = false
        #expect(try await desk.container.accountStatus() == .available)
        #expect(await desk.postCount() == 3)
    }

    @Test("ACCT-4: signing in again after the sign-in expired is reported")
    func signingInAgain() async throws {
        let desk = try Desk(["token-a2": "_a"])
        try desk.signIn("a", token: "token-a")
        #expect(try await desk.container.accountStatus() == .noAccount)
        #expect(await desk.postCount() == 1)
        try desk.signIn("a", token: "token-a2")
        #expect(try await desk.container.accountStatus() == .available)
        #expect(await desk.postCount() == 2)
    }

    @Test("A token in the environment wins over sessions, and signing in does not change it")
    func variablesWin() async throws {
        let desk = try Desk(variables: [
            "TIDEBELL_WEB_AUTH_TOKEN": "token-b", "TIDEBELL_API_TOKEN": "api",
        ])
        try desk.signIn("a", token: "token-a")
        #expect(try await desk.container.userRecordID().recordName == "_b")
        #expect(await desk.postCount() == 0)
    }

    @Test("Signing in to one container makes it and its environment the default")
    func defaults() async throws {
        let desk = try Desk()
        #expect(desk.session.makeDefaultContainer().containerIdentifier == nil)
        try desk.file().change { sessions in
            sessions = [
                SignedInSession(
                    container: "iCloud.notes", environment: "production",
                    server: "https://s.example", apiToken: "api", webAuthToken: "t", user: "a",
                    userRecordName: "_a"
                )
            ]
        }
        let container = desk.session.makeDefaultContainer()
        #expect(container.containerIdentifier == "iCloud.notes")
        let configuration = try container.connection.configured().0
        #expect(configuration.environment == "production")
        #expect(configuration.server.absoluteString == "https://s.example")
        #expect(configuration.apiToken == "api")
    }

    @Test("The sessions are in a private file of a private folder, changed by one at a time")
    func theFile() async throws {
        let home = try TemporaryFolder()
        let file = SessionFile(folder: home.url.appendingPathComponent("state"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try file.change { sessions in
                        sessions.append(
                            SignedInSession(
                                container: "iCloud.\(number)", environment: "development",
                                server: "http://s", apiToken: "a", webAuthToken: "t", user: "u",
                                userRecordName: "_u"
                            )
                        )
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try file.read().count == 20)
        let path = home.url.appendingPathComponent("state/sessions.json").path
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)
    }

    @Test("A file that cannot be read is reported, and does not show who is signed in")
    func aDamagedFile() async throws {
        let desk = try Desk()
        try desk.signIn("a", token: "token-a")
        #expect(try await desk.container.accountStatus() == .available)
        try desk.home.write("{", to: SessionFile.name)
        let result = await Result { try await desk.container.accountStatus() }
        #expect(result.error?.code == .badContainer)
        #expect(result.error?.localizedDescription.contains("sessions.json cannot be read") == true)
        #expect(await desk.postCount() == 1)
    }
}
