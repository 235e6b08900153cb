// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellCore
import TidebellScheduling
import TidebellServer
import TidebellWire

/// `tidebell query`.
struct QueryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Find out why a query is slow.",
        subcommands: [Explain.self, DropIndexes.self]
    )

    /// `tidebell query explain`.
    struct Explain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Explain how a page of a query is found: by which index, looking at what.",
            discussion: """
                The query is the body of records/query, as an app sends it. It is run, and none of \
                its records are printed. Works while a server runs.

                  tidebell query explain --container iCloud.com.example.notes --user anna \\
                    '{"zoneID":{"zoneName":"Notes"},"query":{"recordType":"Note","filterBy":[{
                    "comparator":"EQUALS","fieldName":"title","fieldValue":{"value":"Tides"}}]}}'
                """
        )

        @Argument(help: ArgumentHelp("The body of records/query.", valueName: "json"))
        var body: String

        @Option(help: ArgumentHelp("The container.", valueName: "id"))
        var container: String

        @Option(help: "The environment.")
        var environment = CloudEnvironment.development

        @Option(help: "The kind of database.")
        var database = DatabaseScope.private

        @Option(help: "Who asks; only the public database needs nobody.")
        var user: String?

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup var data: DataOption

        func run() async throws {
            let question = try question
            let key = ContainerKey(container: container, environment: environment)
            let explanation = try await data.withExistingStore { store in
                let (now, identity) = (Time.system.now(), store.identity)
                do {
                    return try await store.read(.long) {
                        try ExplainQuery.run(
                            question, in: key, at: now, of: identity, in: $0)
                    }
                } catch let error as WireError {
                    throw OperatorError("The query is refused: \(error.reason).")
                }
            }
            if json {
                let bytes = JSONWriter.write { explanation.write(to: &$0) }
                printLine(String(decoding: bytes, as: UTF8.self))
            } else {
                printLine(explanation.text)
            }
        }

        private var question: ExplainQuery.Request {
            get throws {
                do {
                    let request = try JSONReader.read(
                        Array(body.utf8), QueryRecords.Request.init(from:))
                    return ExplainQuery.Request(
                        database: database, user: user, request: request)
                } catch let error as JSONError {
                    throw OperatorError("The query is no body of records/query: \(error).")
                }
            }
        }
    }

    /// `tidebell query drop-indexes`.
    struct DropIndexes: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "drop-indexes",
            abstract: "Remove all indexes; queries that need one have it built again.",
            discussion: """
                For what tidebell check finds of indexes. Works while a server runs; until an index \
                is there again, queries look through all records of a type.
                """
        )

        @OptionGroup var data: DataOption

        func run() async throws {
            let count = try await data.withExistingStore { store in
                var count = 0
                while let index = try await store.read({ try DropFieldIndexes.next(in: $0) }) {
                    while try await !store.write(
                        .databaseWithID(index.database),
                        { try DropFieldIndexes.step(index, in: $0) })
                    {}
                    count += 1
                }
                return count
            }
            printLine("Removed \(counted(count, "index", "indexes")).")
        }
    }
}
