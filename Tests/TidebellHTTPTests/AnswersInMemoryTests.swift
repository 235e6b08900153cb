// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellScheduling
import TidebellServer
import TidebellWire
import Logging

@Suite("Answers in memory", .hangs)
struct AnswersInMemoryTests {
    private func post(
        _ path: String, container: String = "c", scope: String = "private", _ body: String,
        length: Int? = nil, _ firstRun: FirstRun
    ) -> String {
        "POST /database/1/\(container)/development/\(scope)/\(path)?\(SocketTests.tokens(firstRun)) "
            + "HTTP/1.1\r\nHost: here\r\nContent-Length: \(length ?? body.utf8.count)\r\n\r\n\(body)"
    }

    @Test("H2: an answer counts until the system has taken it, not while the connection keeps it")
    func slowReaders() async throws {
        try await SocketTests().serving {
            $0.shares.bodyBytesPerCaller = 4 * 1024 * 1024
        } _: { server, port, firstRun in
            let text = String(repeating: "x", count: 900_000)
            let saved = try await RawConnection(port).request(
                post(
                    "records/modify",
                    """
                    {"operations":[{"operationType":"create","record":{"recordName":"r","recordType":"T",\
                    "fields":{"f":{"value":"\(text)"}}}}]}
                    """, firstRun))
            #expect(saved.hasPrefix("HTTP/1.1 200 "))
            let lookup = post("records/lookup", #"{"records":[{"recordName":"r"}]}"#, firstRun)
            var readers: [RawConnection] = []
            var refused = 0
            for _ in 0..<10 {
                let reader = try RawConnection(port, receiving: 4096)
                let answer = try await reader.request(lookup)
                if answer.hasPrefix("HTTP/1.1 429 ") {
                    refused += 1
                } else {
                    readers.append(reader)
                }
            }
            #expect(refused > 0)
            #expect(server.cloud.webServices.cloud.shares.bodies.current <= 4 * 1024 * 1024)
            for reader in readers { reader.close() }
            #expect(await eventually { server.cloud.webServices.cloud.shares.bodies.current == 0 })
        }
    }

    @Test("H2: one person is one caller, in whatever containers")
    func containersOfOnePerson() async throws {
        try await SocketTests().serving {
            $0.shares.bodyBytesPerCaller = 2000
            $0.shares.bodyTime = .seconds(600)
        } _: { server, port, firstRun in
            let body = String(repeating: " ", count: 1999)
            let holding = try RawConnection(port)
            try holding.send(post("zones/lookup", body, length: 2000, firstRun))
            let bodies = server.cloud.webServices.cloud.shares.bodies
            #expect(await eventually { bodies.current == 1999 })
            let second = try await RawConnection(port).request(
                post("zones/lookup", container: "other", body, firstRun))
            #expect(second.hasPrefix("HTTP/1.1 429 "))
            holding.close()
            #expect(await eventually { bodies.current == 0 })
        }
    }

    @Test("H2: a long error counts as its caller's answer; without room for it a short one comes")
    func longErrors() async throws {
        var limits = ShareLimits()
        limits.bodyBytesPerCaller = 10_000
        limits.countsLoopback = true
        // Its characters take six bytes each in JSON.
        let error = WireError.badRequest(String(repeating: "\u{1}", count: 9000))
        let cloud = CloudServices(
            store: FailingStore(error: error), secret: .test, time: .system, randomness: .system,
            shares: limits, logger: TestLog(level: .error).logger
        )
        let request = WebRequest(
            .get, "/database/1/c/development/private/zones/list?ckAPIToken=secret",
            from: .network("192.0.2.1")
        )
        do {
            let first = await cloud.respond(to: request)
            #expect(first.status == 400 && first.share != nil)
            let second = await cloud.respond(to: request)
            #expect(second.status == 429)
        }
        #expect(await cloud.respond(to: request).status == 400)
    }

    @Test("H2: a long error of a signed-in user counts as the user's, not as its address's")
    func longErrorsOfUsers() async throws {
        var limits = ShareLimits()
        limits.bodyBytesPerCaller = 10_000
        let api = try await TestAPI(shares: limits)
        // The error repeats it, of which each character takes six bytes in JSON.
        let comparator = String(repeating: #"\u0001"#, count: 1000)
        let body = """
            {"query":{"recordType":"T","filterBy":[{"comparator":"\(comparator)"}]}}
            """
        func ask(as webToken: String) async -> WebResponse {
            let target = TestAPI.target(
                "private/records/query", apiToken: api.apiToken, webToken: webToken)
            return await api.cloud.respond(
                to: WebRequest(
                    .post, target, body: .bytes(Array(body.utf8)), from: .network("192.0.2.1")))
        }
        let ben = try await api.cloud.accounts.add(named: "ben")
        let first = await ask(as: api.webToken)
        #expect(first.status == 400 && first.share != nil)
        // Another user behind the same proxy or router.
        let second = await ask(as: ben)
        #expect(second.status == 400 && second.share != nil)
        #expect(await ask(as: api.webToken).status == 429)
        #expect(await ask(as: ben).status == 429)
    }

    @Test("H2: a repeated answer of a write may be refused, since refusing it undoes nothing")
    func keptAnswers() async throws {
        try await SocketTests().serving {
            $0.shares.bodyBytesPerCaller = 120_000
        } _: { server, _, firstRun in
            let services = server.cloud.webServices
            let text = String(repeating: "x", count: 50_000)
            let write = WebRequest(
                .post,
                "/database/1/c/development/private/records/modify?\(SocketTests.tokens(firstRun))",
                headers: HTTPFields(["X-Tidebell-Request-ID": "1"]),
                body: .bytes(
                    Array(
                        """
                        {"operations":[{"operationType":"create","record":{"recordName":"r",\
                        "recordType":"T","fields":{"f":{"value":"\(text)"}}}}]}
                        """.utf8)))
            let answers = [
                await services.respond(to: write), await services.respond(to: write),
                await services.respond(to: write),
            ]
            #expect(answers.map(\.status) == [200, 200, 429])
        }
    }
}
