// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// `tidebell schema` and `tidebell query`, each command once, while a server runs.
@Suite("Schemas and queries by command", .hangs)
struct SchemaCommandTests {
    private let program: TidebellProgram
    private let container = Household.container

    init() throws {
        program = try Built.tidebell()
    }

    private func clean() {
        // What a test could not make need not be removed.
        try? FileManager.default.removeItem(at: program.dataFolder)
    }

    private func schema(_ words: String...) async throws -> [String] {
        try await program.run(["schema", words[0], container] + words.dropFirst())
    }

    /// What a command that fails says.
    private func failure(_ body: () async throws -> [String]) async -> String {
        do {
            return try await body().joined(separator: "\n")
        } catch let failure as ProcessFailure {
            return failure.description
        } catch { return "\(error)" }
    }

    private func save(
        _ household: Household, _ name: String, _ fields: String
    ) async throws -> String {
        try await household.post(
            "records/modify",
            #"{"operations":[{"operationType":"create","record":{"recordName":"\#(name)","#
                + #""recordType":"Note","fields":{\#(fields)}}}]}"#)
    }

    @Test("ENV-1 to ENV-3, ENV-8, SUB-42: a schema's way to production and back, by commands")
    func schemas() async throws {
        defer { clean() }
        let server = try await program.serve()
        let household = try await Household(program: program, user: "anna")
        let title = #""title":{"value":"tide"}"#
        #expect(try await save(household, "a", title).contains(#""recordName":"a""#))
        let subscribed = try await household.post(
            "subscriptions/modify",
            #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"tides","#
                + #""subscriptionType":"query","firesOn":["create"],"query":{"recordType":"Note","#
                + #""filterBy":[{"fieldName":"title","comparator":"EQUALS","#
                + #""fieldValue":{"value":"tide"}}]}}}]}"#)
        #expect(subscribed.contains(#""subscriptionID":"tides""#), "\(subscribed)")

        // What production lacks.
        let check = await failure { try await schema("check") }
        #expect(check.contains("the record type Note, for the subscription Note: title == %@"))
        #expect(check.contains("Deploy it: tidebell schema deploy \(container)"))
        let diff = try await schema("diff")
        #expect(diff.first == "+ RECORD TYPE Note", "\(diff)")
        #expect(diff.contains("+ Note.title STRING QUERYABLE SORTABLE SEARCHABLE"))
        let deployed = try await schema("deploy")
        #expect(deployed.first == "Deployed to \(container) (production), number 1:")
        #expect(
            try await schema("check") == [
                "Production of \(container) has all that development used."
            ])
        #expect(
            try await schema("diff") == [
                "Development and production of \(container) have the same schema."
            ])
        let history = try await schema("history")
        #expect(history.first?.hasPrefix("1  20") == true, "\(history)")
        #expect(history.contains("     + RECORD TYPE Note"))

        // A file's way, by cktool's verbs, too.
        let file = program.dataFolder.path + "/App.ckdb"
        #expect(
            try await schema("export", "--environment", "production", "--output-file", file) == [])
        let exported = try await schema("export-schema", "--environment", "production")
        #expect(exported.first == "DEFINE SCHEMA")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(
            text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
                == exported + [""])
        #expect(
            try await schema("validate", "--file", file) == [
                "The file is valid, and what \(container) (development) has."
            ])
        try Data(text.replacing("title STRING QUERYABLE", with: "size INT64,\n title STRING").utf8)
            .write(to: URL(fileURLWithPath: file))
        let silenced =
            "  ! no longer fires: the subscription Note: title == %@ without the index QUERYABLE of "
            + "Note.title"
        for verb in ["validate-schema", "import-schema"] {
            let lines = try await schema(verb, "--file", file)
            #expect(lines.contains("  + Note.size INT64"), "\(lines)")
            #expect(lines.contains("  - Note.title QUERYABLE"), "\(lines)")
            #expect(lines.last == silenced)
        }
        #expect(
            try await schema("import", "--file", file) == [
                "\(container) (development) has this schema already."
            ])
        let planned = try await schema("diff")
        #expect(
            planned.last
                == "! would not fire in production: the subscription Note: title == %@ without the "
                + "index QUERYABLE of Note.title", "\(planned)")
        let indexed = try await schema("index", "Note.title", "QUERYABLE")
        #expect(indexed.first == "+ Note.title QUERYABLE")
        try Data("DEFINE SCHEMA".utf8).write(to: URL(fileURLWithPath: file))
        let refused = await failure { try await schema("import", "--file", file) }
        #expect(refused.contains("the record type Note is deployed to production"), "\(refused)")

        // And back.
        let asked = await failure { try await schema("reset") }
        #expect(asked.contains("add --force to do it"), "\(asked)")
        #expect(
            try await schema("reset-schema", "--force") == [
                "Reset \(container) (development): removed 1 record and 0 zones.", "Its schema:",
                "  - Note.size INT64",
            ])
        let gone = try await household.post(
            "records/lookup", #"{"records":[{"recordName":"a"}]}"#)
        #expect(gone.contains("NOT_FOUND"), "\(gone)")
        #expect(
            try await schema("reset", "--force") == [
                "Reset \(container) (development): removed 0 records and 0 zones; it has "
                    + "production's schema already."
            ])
        // The server has gone by all of it without being started anew.
        #expect(try await save(household, "b", #""size":{"value":"text"}"#).contains(#""b""#))
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }

    @Test("A query is explained, and its indexes are dropped, while the server runs")
    func queries() async throws {
        defer { clean() }
        let server = try await program.serve()
        let household = try await Household(program: program, user: "anna")
        for page in 0..<6 {
            let operations = (0..<200).map { number in
                #"{"operationType":"create","record":{"recordName":"n\#(page)-\#(number)","#
                    + #""recordType":"Note","fields":{"number":{"value":\#(page * 200 + number)}}}}"#
            }
            let answer = try await household.post(
                "records/modify",
                #"{"operations":[\#(operations.joined(separator: ","))]}"#)
            #expect(!answer.contains("serverErrorCode"), "\(answer.prefix(300))")
        }
        let body =
            #"{"query":{"recordType":"Note","filterBy":[{"comparator":"EQUALS","#
            + #""fieldName":"number","fieldValue":{"value":77}}]}}"#
        func explain(_ options: String...) async throws -> [String] {
            try await program.run(
                ["query", "explain", "--container", container, "--user", "anna"] + options
                    + [body])
        }
        let scan = try await explain()
        #expect(
            scan == [
                "zone _defaultZone: all records of the type, one by one: no index is there; one is "
                    + "made when a query looks at many records and finds few, unless the zone has as many as "
                    + "it may",
                "  looked at 1200 records, 1 passed",
                "An index of values of 'number' would help; a server that runs makes it when it is "
                    + "asked this.",
            ])
        _ = try await household.post("records/query", body)
        var indexed: [String] = []
        await eventually {
            indexed = (try? await explain("--json")) ?? []
            return indexed.first?.contains(#""source":"index""#) == true
        }
        #expect(
            indexed == [
                #"{"zones":[{"zone":"_defaultZone","source":"index","index":"values of 'number'","#
                    + #""reason":"1 entry can pass the filters","entries":1,"records":1,"#
                    + #""found":1}],"wishes":[],"moreComing":false}"#
            ])
        #expect(try await program.run(["query", "drop-indexes"]) == ["Removed 1 index."])
        #expect(try await explain() == scan)
        let unknown = await failure {
            try await program.run(
                ["query", "explain", "--container", container, "--user", "otto", body])
        }
        #expect(unknown.contains("There is no user 'otto'."), "\(unknown)")
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }
}
