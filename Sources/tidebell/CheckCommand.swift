// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellHTTP
import TidebellSQLite
import TidebellScheduling
import TidebellServer

/// `tidebell check`.
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Look for damage in the cloud, also while a server runs.",
        discussion: """
            Reads the whole database and every file of records, and changes nothing. Prints a \
            line for each problem, and exits with 1 if there is damage. A line that begins with \
            "Warning:" is not about damage, but about something that you should do; backups can \
            still be made. If the root key is available, in the data folder or by an option, the \
            contents of encrypted files are decrypted and compared with their digests; otherwise \
            only their lengths are compared.
            """
    )

    /// What `--json` prints.
    private struct Report: Encodable {
        /// The first ones.
        var problems: [StoreProblem]
        var hasMore: Bool
        /// How many there are of each kind, also of those that are not listed.
        var damages: Int
        var warnings: Int
        var databases: Int
        var zones: Int
        var records: Int
        var files: Int
        /// Encrypted files whose contents were not read, for want of the root key.
        var unreadFiles: Int
    }

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var rootKey: RootKeyLocationOptions
    @OptionGroup var data: DataOption

    func run() async throws {
        let found = try CloudCheck.run(
            data.dataFolder, rootKey: rootKey.source, at: Time.system.now()
        )
        if json {
            try printJSON(found)
        } else {
            for problem in found.problems {
                printLine(problem.severity == .damage ? problem.description : problem.line)
            }
            if found.hasMore { printLine("There are more problems than these.") }
            printLine(
                found.total
                    + " in \(counted(found.databases, "database")), "
                    + "\(counted(found.zones, "zone")), \(counted(found.records, "record")) and "
                    + "\(counted(found.files.count, "file of records", "files of records"))."
            )
            advise(found)
        }
        guard !found.isDamaged else { throw ExitCode(1) }
    }

    private func advise(_ found: StoreFindings) {
        if found.unreadFiles > 0 {
            printLine(
                "The contents of \(counted(found.unreadFiles, "encrypted file")) were not read, "
                    + "only their lengths: the root key is not available. Name it with "
                    + "--root-key-file or --root-key-command."
            )
        }
        guard found.isDamaged else { return }
        printLine(
            """
            If a file is missing or damaged, copy it from a backup, where it has the same path (the \
            server may run); or delete the records that have it, or save them with another file. \
            If fields are damaged, save the record again with all its fields, or delete it. \
            For anything else: tidebell restore BACKUP --replace\(data.hint)
            """
        )
    }

    private func printJSON(_ found: StoreFindings) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let report = Report(
            problems: found.problems, hasMore: found.hasMore, damages: found.damages,
            warnings: found.warnings, databases: found.databases, zones: found.zones,
            records: found.records, files: found.files.count, unreadFiles: found.unreadFiles
        )
        printLine(String(decoding: try encoder.encode(report), as: UTF8.self))
    }
}

extension StoreFindings {
    /// How much was found, for people.
    fileprivate var total: String {
        guard warnings > 0 else { return damages == 0 ? "No problem" : counted(damages, "problem") }
        return (damages == 0 ? "No damage" : counted(damages, "problem"))
            + " and \(counted(warnings, "warning"))"
    }
}
