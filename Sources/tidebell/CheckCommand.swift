// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellHTTP
import TidebellSQLite
import TidebellServer

/// `tidebell check`.
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Look for damage in the cloud, also while it is served.",
        discussion: """
            Reads the whole database and every file of records, and changes nothing. Prints a \
            line for each problem; ends with 1 if there is any.
            """
    )

    /// What `--json` prints.
    private struct Report: Encodable {
        var problems: [StoreProblem]
        var hasMore: Bool
        var databases: Int
        var zones: Int
        var records: Int
        var files: Int
    }

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var data: DataOption

    func run() async throws {
        let found = try CloudCheck.run(DataFolder(data.folder), at: Time.system.now())
        if json {
            try sayJSON(found)
        } else {
            for problem in found.problems { say(problem.description) }
            if found.hasMore { say("There are more problems than these.") }
            let count = found.problems.count
            say(
                (count == 0 ? "No problem" : count == 1 ? "1 problem" : "\(count) problems")
                    + " in \(found.databases) databases, \(found.zones) zones, "
                    + "\(found.records) records and \(found.files.count) files."
            )
        }
        guard found.problems.isEmpty else { throw ExitCode(1) }
    }

    private func sayJSON(_ found: StoreFindings) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let report = Report(
            problems: found.problems, hasMore: found.hasMore, databases: found.databases,
            zones: found.zones, records: found.records, files: found.files.count
        )
        say(String(decoding: try encoder.encode(report), as: UTF8.self))
    }
}
