// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// A client that writes in many ways, and looks closely at how it is refused.
struct TroubleClient: Sendable {
    /// What a client gets.
    struct Refusal: Decodable, Hashable {
        var serverErrorCode = "TRY_AGAIN_LATER"
        var reason: String
        var retryAfter = 10.0
    }

    private let home: Household

    /// A client of a user with a password.
    init(program: TidebellProgram) async throws {
        home = try await Household(program: program, user: "anna")
        let command = try ChildProcess(
            program.executable,
            [
                "user", "password", "anna", "--keep-tokens", "--password-stdin", "--data",
                program.dataFolder.path,
            ]
        )
        try command.send("correct horse")
        try #require(await command.waitUntilExit() == 0)
    }

    /// Requests that write, each in its own way; C stands for container and environment.
    private static let writes = [
        ("/database/C/private/records/modify", modify(record: "new")),
        (
            "/database/C/private/zones/modify",
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"New"}}}]}"#
        ),
        ("/database/C/private/subscriptions/modify", subscribe),
        (
            "/database/C/private/assets/upload",
            #"{"tokens":[{"recordType":"Note","fieldName":"f"}]}"#
        ),
        ("/device/C/tokens/create", #"{"apnsEnvironment":"development"}"#),
        ("/ext/C/account/signIn", #"{"user":"anna","password":"correct horse"}"#),
    ]
    private static let subscribe = """
        {"operations":[{"operationType":"create","subscription":{"subscriptionID":"s",\
        "subscriptionType":"query","query":{"recordType":"Note"},"firesOn":["create"],\
        "notificationInfo":{"alertBody":"new"}}}]}
        """

    private static func modify(record: String) -> String {
        """
        {"operations":[{"operationType":"create","record":{"recordName":"\(record)",\
        "recordType":"Note"}}]}
        """
    }

    /// Saves a record; returns the status.
    func save(_ record: String) async throws -> Int {
        try await send(Self.writes[0].0, Self.modify(record: record)).status
    }

    /// The status of a question without a body.
    func status(_ path: String) async throws -> Int { try await send(path).status }

    /// Which of the records are there.
    func records(_ names: [String]) async throws -> [String] {
        let list = names.map { #"{"recordName":"\#($0)"}"# }.joined(separator: ",")
        let answer = try await send(
            "/database/C/private/records/lookup", #"{"records":[\#(list)]}"#)
        let entries = try JSONDecoder().decode(WireEntries.self, from: Data(answer.body))
        return (entries.records ?? []).filter { $0.serverErrorCode == nil }
            .compactMap(\.recordName)
    }

    /// Writes in every way, all at once, and expects to be refused, by `/ready` too.
    func expectRefusals(_ refusal: Refusal) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (path, json) in Self.writes {
                group.addTask { try await expect(refusal, path, json) }
            }
            group.addTask { try await expectSoon(refusal, "/ready") }
            try await group.waitForAll()
        }
    }

    /// Expects that a request about the server's health is refused; until the store has, it is said to be silent.
    func expectSoon(_ refusal: Refusal, _ path: String) async throws {
        var answered: Refusal?
        try await eventually {
            let answer = try await send(path)
            #expect(answer.status == 503, "\(path)")
            answered = try JSONDecoder().decode(Refusal.self, from: Data(answer.body))
            return answered?.reason != Self.isSilent
        }
        #expect(answered == refusal, "\(path)")
    }
    private static let isSilent = "the server's store does not answer"

    /// Expects that a request is refused.
    func expect(_ refusal: Refusal, _ path: String, _ json: String? = nil) async throws {
        let answer = try await send(path, json)
        #expect(answer.status == 503, "\(path)")
        #expect(answer.header("Retry-After") == "10", "\(path)")
        let answered = try JSONDecoder().decode(Refusal.self, from: Data(answer.body))
        #expect(answered == refusal, "\(path)")
    }

    /// Writes in every way, and expects that it works and nothing was done before.
    func expectSuccess() async throws {
        for (path, json) in Self.writes {
            let answer = try await send(path, json)
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(answer.status == 200 && !text.contains("ErrorCode"), "\(path) \(text)")
        }
    }

    private func send(_ path: String, _ json: String? = nil) async throws -> TransportResponse {
        let address = path.replacingOccurrences(
            of: "/C/", with: "/1/\(Household.container)/development/")
        let server = try #require(URL(string: "http://127.0.0.1:\(home.port)"))
        return try await HTTPTransport(server: server).send(
            TransportRequest(
                method: json == nil ? "GET" : "POST", path: "\(address)?\(home.tokens)",
                headers: [("Content-Type", "application/json")], body: json.map { Array($0.utf8) }
            ),
            timeout: .patience
        )
    }
}
