// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("What an operator does")
struct OperatorTests {
    private static let now = Instant(rawValue: 2_000_000)
    private static let hash = [UInt8](repeating: 0xAB, count: 32)
    private static let badContainer = ContainerKey(container: "a_b", environment: .production)

    private let bench: Bench

    init() async throws {
        bench = try await Bench()
    }

    /// Runs an operation that fails, and returns with what, and on which field.
    private func failure(
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Void
    ) async throws -> OperatorError {
        try await #require(throws: OperatorError.self) {
            try await bench.store.write(.everything) { try body($0) }
        }
    }

    /// Expects an operation to fail, in this way, and to name which field and what helps.
    private func expect(
        _ code: OperatorError.Code, _ field: OperatorError.Field,
        remedy: OperatorError.Remedy? = nil,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Void
    ) async throws {
        let error = try await failure(body)
        #expect(error.code == code, "\(error)")
        #expect(error.field == field, "\(error)")
        #expect(error.remedy == remedy, "\(error)")
        #expect(error.description.hasSuffix("."))
        #expect(!error.description.contains("tidebell"), "no command line is the only way in")
    }

    @Test("An error about a user names the user: their name is bad, taken or unknown")
    func users() async throws {
        let (now, hash) = (Self.now, Self.hash)
        for (name, code) in [("a b", OperatorError.Code.invalid), ("anna", .taken)] {
            try await expect(code, .user) {
                _ = try AddUser.run(named: name, token: hash, lifetime: .zero, at: now, in: $0)
            }
        }
        try await expect(.unknown, .user) {
            _ = try RemoveUser.run(named: "eve", erasing: .none, at: now, in: $0)
        }
        try await expect(.unknown, .user) {
            _ = try SetPassword.run("", of: "eve", keepsTokens: false, at: now, in: $0)
        }
        try await expect(.unknown, .user) {
            _ = try DisableUser.run(named: "eve", isDisabled: true, at: now, in: $0)
        }
        try await expect(.unknown, .user) {
            _ = try EndSessions.run(of: "eve", session: nil, at: now, in: $0)
        }
        try await expect(.unknown, .user, remedy: .listRemovedUsers) {
            _ = try EraseRemovedUser.run(named: "eve", .everything, in: $0)
        }
        try await expect(.unsuitable, .user, remedy: .remove(user: "anna")) {
            _ = try EraseRemovedUser.run(named: "anna", .everything, in: $0)
        }
    }

    @Test("An error about a token, a session or a webhook names what it is about")
    func others() async throws {
        let (now, hash, bad) = (Self.now, Self.hash, Self.badContainer)
        try await expect(.unknown, .session, remedy: .listSessions(user: "anna")) {
            _ = try EndSessions.run(of: "anna", session: "abcd", at: now, in: $0)
        }
        try await expect(.invalid, .container) {
            try AddWebToken.run(
                hash, ofUser: "anna", for: bad, lifetime: .zero, at: now, in: $0
            )
        }
        try await expect(.invalid, .container) {
            try AddToken.run(.api, hash, named: "", for: bad, lifetime: nil, at: now, in: $0)
        }
        try await expect(.unknown, .token) { _ = try RevokeToken.run(.api, "abcd", in: $0) }
        try await expect(.invalid, .url) {
            let url = "ftp://a.example"
            _ = try AddWebhook.run(for: Bench.container, url: url, secret: [1], at: now, in: $0)
        }
        try await expect(.invalid, .container) {
            let url = "https://a.example"
            _ = try AddWebhook.run(for: bad, url: url, secret: [1], at: now, in: $0)
        }
        try await expect(.unknown, .webhook, remedy: .listWebhooks) {
            try RemoveWebhook.run(WebhookID(rawValue: 7), in: $0)
        }
        try await expect(.unknown, .webhook, remedy: .listWebhooks) {
            try EnableWebhook.run(WebhookID(rawValue: 7), in: $0)
        }
    }

    @Test("A password's rule names the password")
    func password() {
        for password in ["", "1234567", String(repeating: "x", count: 1025)] {
            let error = #expect(throws: OperatorError.self) { try PasswordRule.check(password) }
            #expect(error?.field == .password)
            #expect(error?.code == .invalid)
        }
        #expect(throws: Never.self) {
            try PasswordRule.check(String(repeating: "e\u{301}", count: 512))
        }
    }

    @Test("A webhook's URL has a scheme of the web and a host, and no secret")
    func urls() {
        let bad = [
            "", "a.example", "https://", "file:///x", "https://me@a.example",
            "https://:x@a.example",
            "https://a.example/" + String(repeating: "x", count: 2048),
        ]
        for url in bad {
            let error = #expect(throws: OperatorError.self) { try WebhookURL.check(url) }
            #expect(error?.field == .url, "\(url)")
        }
        for url in ["https://a.example", "HTTP://127.0.0.1:8080/x?y=z"] {
            #expect(throws: Never.self) { try WebhookURL.check(url) }
        }
    }

    @Test("Of IDs that begin alike, the beginning names none; more digits name one")
    func beginnings() async throws {
        let now = Self.now
        let hashes: [[UInt8]] = [[0xAB, 0xCD, 1], [0xAB, 0xCD, 2]].map {
            $0 + Array(repeating: 0, count: 29)
        }
        try await bench.store.write(.everything) { transaction in
            for hash in hashes {
                try AddToken.run(
                    .management, hash, named: "t", for: nil, lifetime: nil, at: now,
                    in: transaction
                )
                try AddWebToken.run(
                    hash, ofUser: "anna", for: nil, lifetime: .seconds(60), at: now,
                    in: transaction
                )
            }
        }
        let token = try await failure { _ = try RevokeToken.run(.management, "ABCD", in: $0) }
        #expect(token.code == .ambiguous)
        #expect(token.field == .token)
        let session = try await failure {
            _ = try EndSessions.run(of: "anna", session: "abcd", at: now, in: $0)
        }
        #expect(session.code == .ambiguous)
        #expect(session.field == .session)
        try await bench.store.write(.everything) { transaction throws in
            #expect(try RevokeToken.run(.management, "abcd01", in: transaction).hash == hashes[0])
            #expect(
                try EndSessions.run(of: "anna", session: "abcd02", at: now, in: transaction) == 1
            )
        }
    }
}
