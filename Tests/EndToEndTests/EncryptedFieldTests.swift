// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// What leaves a server of fields that apps encrypt: to receivers, to the operator's terminal, to the log.
@Suite("Encrypted fields outside the server", .hangs)
struct EncryptedFieldTests {
    private static let secrets = SecretWords([
        "wordOfTheSecret", "firstOfSecretList", "7260358149926035814",
    ])
    private static let plain = "wordInPlainText"

    /// Fields, those with secret words encrypted or not.
    private static func fields(isEncrypted: Bool) -> String {
        let rest = isEncrypted ? #","isEncrypted":true"# : ""
        return """
            "title":{"value":"\(plain)"},"secret":{"value":"wordOfTheSecret"\(rest)},\
            "list":{"value":["firstOfSecretList","x"],"type":"STRING_LIST"\(rest)},\
            "number":{"value":7260358149926035814,"type":"INT64"\(rest)}
            """
    }

    @Test(
        "REC-11: no webhook message, printed explanation or log line has what apps encrypt",
        arguments: [true, false])
    func leaving(isEncrypted: Bool) async throws {
        let program = try Built.tidebell()
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let server = try await program.serve(arguments: ["--log-level", "trace"])
        let receiver = try WebhookReceiver()
        _ = try await program.run(["webhook", "add", Household.container, receiver.url])
        let home = try await Household(program: program, user: "anna")
        // It asks for the secret field before anybody knows that it is encrypted.
        let subscribed = try await home.post(
            "subscriptions/modify",
            """
            {"operations":[{"operationType":"create","subscription":{"subscriptionID":"q",\
            "subscriptionType":"query","query":{"recordType":"Note"},\
            "firesOn":["create","update","delete"],"notificationInfo":{\
            "alertLocalizationKey":"changed","alertLocalizationArgs":["title","secret"],\
            "additionalFields":["title","secret"]}}}]}
            """)
        try #require(!subscribed.contains("ErrorCode"), "\(subscribed)")
        let record = #""recordName":"n1","recordType":"Note""#
        for operation in [
            #"{"operationType":"create","record":{\#(record),"fields":{\#(Self.fields(isEncrypted: isEncrypted))}}}"#,
            #"{"operationType":"forceUpdate","record":{\#(record),"fields":{"title":{"value":"\#(Self.plain)2"}}}}"#,
            #"{"operationType":"forceDelete","record":{"recordName":"n1"}}"#,
        ] {
            let saved = try await home.post(
                "records/modify", #"{"operations":[\#(operation)]}"#)
            try #require(!saved.contains("ErrorCode"), "\(saved)")
        }
        let deleted = Ledger.Change(name: "n1", event: .deleted)
        await eventually { receiver.received[deleted] != nil }
        let messages = receiver.texts.joined(separator: "\n")
        #expect(messages.contains(Self.plain))
        #expect(
            Self.secrets.found(in: messages) == (isEncrypted ? [] : ["wordOfTheSecret"]),
            "\(messages)")

        let explained = try await program.run(["push", "explain", "n1"])
        #expect(explained.contains { $0.contains("record n1 (Note) created") }, "\(explained)")
        let json = try await program.run(["push", "explain", "n1", "--json"])
        let printed = (explained + json).joined(separator: "\n")
        #expect(Self.secrets.found(in: printed) == [], "\(printed)")

        server.signal(SIGTERM)
        var log: [String] = []
        for await line in server.lines { log.append(line) }
        #expect(await server.waitUntilExit() == 0)
        #expect(log.contains { $0.contains("request answered") })
        #expect(Self.secrets.found(in: log.joined(separator: "\n")) == [])
    }
}
