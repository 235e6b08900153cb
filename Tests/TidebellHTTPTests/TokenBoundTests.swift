// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellHTTP
import TidebellServer
import TidebellWire
import TestSupport

@Suite("How many tokens live")
struct TokenBoundTests {
    private func caller(_ api: TestAPI, _ token: String) async throws -> TestAPI.Answer {
        try await api.send(
            "GET", api.target("public/users/caller").replacing(api.webToken, with: token))
    }

    private func page(_ api: TestAPI, of token: String) async throws -> String {
        let answer = try await api.send(
            "POST",
            api.target(under: "ext", "account/webToken").replacing(api.webToken, with: token),
            #"{"apiToken":"\#(api.apiToken)"}"#
        )
        return try JSONReader.read(Array(answer.text.utf8)) {
            try FetchWebAuthToken.Response(from: &$0).webAuthToken
        }
    }

    @Test("A session has few tokens that live, however many of them are renewed how often")
    func renewals() async throws {
        let api = try await TestAPI()
        var tokens = [try await page(api, of: api.webToken)]
        let part = WebTokenRules.fetchedLifetime / WebTokenRules.retriesPerLifetime
        var most = 0
        for _ in 0..<(3 * WebTokenRules.retriesPerLifetime) {
            api.clock.advance(by: part)
            var living: [String] = []
            var new: Set<String> = []
            for token in tokens {
                let answer = try await caller(api, token)
                guard answer.status == 200 else { continue }
                living.append(token)
                if let next = answer[header: WireProtocol.webAuthTokenHeader] { new.insert(next) }
            }
            #expect(new.count <= 1, "in one part of the lifetime")
            tokens = living + new.subtracting(living)
            most = max(most, tokens.count)
        }
        #expect(!tokens.isEmpty && most <= WebTokenRules.retriesPerLifetime + 2)
    }

    @Test("One page more than an account may have signs out the one that would expire first")
    func pages() async throws {
        var limits = Limits()
        limits.pagesPerAccount = 3
        let api = try await TestAPI(limits: limits)
        let other = try await api.cloud.accounts.add(named: "otto")
        let ottos = try await page(api, of: other)
        var pages: [String] = []
        for _ in 0..<5 {
            pages.append(try await page(api, of: api.webToken))
            api.clock.advance(by: .seconds(10))
        }
        var statuses: [Int] = []
        for token in pages + [api.webToken, ottos] {
            statuses.append(try await caller(api, token).status)
        }
        #expect(statuses == [421, 421, 200, 200, 200, 200, 200])
    }

    @Test("A new page is not signed out with a page it comes from by one that has expired")
    func expiredBetween() async throws {
        var limits = Limits()
        limits.pagesPerAccount = 3
        let api = try await TestAPI(limits: limits)
        let minute = Duration.seconds(60)
        let first = try await page(api, of: api.webToken)
        let second = try await page(api, of: first)
        api.clock.advance(by: minute * 14)
        let third = try await page(api, of: second)
        api.clock.advance(by: minute * 6)
        let renewed = try await caller(api, first)[header: WireProtocol.webAuthTokenHeader]
        let later = try #require(renewed)
        api.clock.advance(by: minute * 11)
        #expect(try await caller(api, second).status == 421)
        let last = try await page(api, of: api.webToken)
        // The one that came alone goes, though it would expire last.
        let fourth = try await page(api, of: third)
        var statuses: [Int] = []
        for token in [later, third, last, fourth] {
            statuses.append(try await caller(api, token).status)
        }
        #expect(statuses == [200, 200, 421, 200])
    }

    private func device(_ api: TestAPI, with token: String) async throws -> TestAPI.Answer {
        try await api.send(
            "POST",
            api.target(under: "ext", "account/signIn").replacing(api.webToken, with: token), "{}")
    }

    @Test("Devices that signed in with another one's token do not end it, nor themselves")
    func descendants() async throws {
        var limits = Limits()
        limits.signInsPerAccount = 3
        let api = try await TestAPI(limits: limits)
        func signIn(with token: String) async throws -> String {
            let answer = try await device(api, with: token)
            api.clock.advance(by: .seconds(10))
            return try JSONReader.read(Array(answer.text.utf8)) {
                try SignIn.Response(from: &$0).webAuthToken
            }
        }
        let first = try await signIn(with: api.webToken)
        var tokens = [first]
        for _ in 0..<3 { tokens.append(try await signIn(with: first)) }
        // The second made room: the first one is what all came from.
        var statuses: [Int] = []
        for token in tokens { statuses.append(try await caller(api, token).status) }
        #expect(statuses == [200, 421, 200, 200])
        // Each begun with the one before: there is none that could go.
        let api2 = try await TestAPI(limits: limits)
        var last = api2.webToken
        var answers: [Int] = []
        for _ in 0..<4 {
            let answer = try await device(api2, with: last)
            answers.append(answer.status)
            guard answer.status == 200 else { continue }
            last = try JSONReader.read(Array(answer.text.utf8)) {
                try SignIn.Response(from: &$0).webAuthToken
            }
        }
        #expect(answers == [200, 200, 200, 400])
        #expect(try await caller(api2, last).status == 200)
    }

    @Test("One device more than an account may have signs out the one that would expire first")
    func devices() async throws {
        var limits = Limits()
        limits.signInsPerAccount = 2
        let api = try await TestAPI(limits: limits)
        var tokens: [String] = []
        for _ in 0..<4 {
            let answer = try await api.send(
                "POST", api.target(under: "ext", "account/signIn"), "{}")
            tokens.append(
                try JSONReader.read(Array(answer.text.utf8)) {
                    try SignIn.Response(from: &$0).webAuthToken
                })
            api.clock.advance(by: .seconds(10))
        }
        // A page is no device.
        _ = try await page(api, of: tokens[3])
        var statuses: [Int] = []
        for token in tokens + [api.webToken] {
            statuses.append(try await caller(api, token).status)
        }
        #expect(statuses == [421, 421, 200, 200, 200])
    }
}
