// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellCore
import TidebellPostgres
import TidebellSQL
import TidebellSQLite
import TidebellScheduling
import TidebellServer

/// `tidebell migrate`.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract:
            "Move the records of a cloud to PostgreSQL, or back to a file; the server must be stopped.",
        discussion: """
            One of the two is a data folder, the other a database of PostgreSQL \
            (postgres://USER@HOST/DATABASE). Everything is copied and compared: users, tokens, records, \
            subscriptions and what is still to be pushed, with the same change tokens, so that apps notice \
            nothing but the pause. The root key and the files of records stay where they are.

            A migration that was interrupted goes on where it was when it is run again. The source stays as it \
            is, under another name, or marked, so that no server serves it any more.
            """
    )

    @Option(help: "What has the cloud now.", completion: .directory)
    var from: String

    @Option(
        help: "What gets it: an empty database, or a data folder without a store.",
        completion: .directory)
    var to: String

    /// One side of a migration.
    private enum Place {
        case folder(DataFolder, URL)
        case postgres(PostgresFactory, String)

        init(_ text: String, _ option: String) throws {
            // A path with an equals sign needs a slash before it.
            let prefix = text.prefix { $0 != "/" }
            if text.contains("://") || prefix.contains("=") {
                do {
                    self = .postgres(try PostgresFactory(text), text)
                } catch {
                    throw ValidationError("\(option): \(error)")
                }
            } else {
                let url = URL(fileURLWithPath: text, isDirectory: true)
                self = .folder(DataFolder(url), url)
            }
        }

        /// Where it is, without a password.
        var name: String {
            switch self {
            case .folder(_, let url): url.path
            case .postgres(let stores, _): "PostgreSQL (\(stores.description))"
            }
        }
    }

    func validate() throws {
        switch (try Place(from, "--from"), try Place(to, "--to")) {
        case (.folder, .folder), (.postgres, .postgres):
            throw ValidationError(
                "Give a data folder and a database of PostgreSQL (postgres://USER@HOST/DATABASE).")
        default: break
        }
    }

    func run() async throws {
        let (source, target) = (try Place(from, "--from"), try Place(to, "--to"))
        do {
            let outcome = try await copy(from: source, to: target)
            printLine(
                "Copied \(outcome.tables) tables with \(counted(outcome.rows, "row")), and compared them."
            )
        } catch let error as StoreCopy.Refusal {
            throw OperatorError("\(target.name): \(error).")
        } catch let error as StoreOpenError {
            throw OperatorError(error.description)
        }
        switch (source, target) {
        case (.folder(_, let folder), _):
            printLine(
                """
                The cloud is in \(target.name) now. Start it, with this folder or a copy of its files and root key:

                   tidebell serve --data \(folder.path.asShellWord) --store ADDRESS

                The file from before is \(folder.path)/\(SQLiteTables.migratedName). Remove it when you no longer \
                need it.
                """)
        case (_, .folder(_, let folder)):
            printLine(
                """
                The cloud is in \(target.name) now. The database from before is marked as migrated. Drop it when you \
                no longer need it.
                """)
            if let bucket = DataFolder(folder).notedBucket {
                printLine(
                    """
                    The files of records are still in \(bucket). Copy what is in \(bucket)/kept/ to \
                    \(folder.path)/assets/kept/ (aws s3 sync), and remove \(folder.path)/\(DataFolder.bucketNoteName).
                    """)
            } else {
                printLine(
                    """
                    Copy the files of records, which are in assets/kept/ of the servers' data folder, to \
                    \(folder.path)/assets/kept/, if that is another one. 'tidebell check' names those that are missing.
                    """)
            }
            printLine(
                """
                Then start it:

                   tidebell serve --data \(folder.path.asShellWord)
                """)
        default: break
        }
    }

    private func copy(from source: Place, to target: Place) async throws -> StoreCopy.Outcome {
        let reporting = { (table: String, rows: Int) in
            if rows > 0 { printError("\(table): \(counted(rows, "row"))") }
        }
        switch (source, target) {
        case (.folder(let data, let folder), .postgres(_, let address)):
            try data.checkIsNotLost()
            guard data.hasStore else { throw OperatorError("There is no cloud in \(folder.path).") }
            let tables = try SQLiteTables(copying: folder, time: .system, randomness: .system)
            do {
                let others = try PostgresTables(filling: address)
                defer { others.close() }
                return try await StoreCopy(from: tables, to: others)
                    .run(reporting: reporting)
            } catch {
                try await tables.close()
                throw error
            }
        case (.postgres(_, let address), .folder(let data, let folder)):
            guard !data.hasStore else {
                throw OperatorError("There is a cloud in \(folder.path) already.")
            }
            let tables = try PostgresTables(copying: address)
            defer { tables.close() }
            let others = try SQLiteTables(filling: folder, time: .system, randomness: .system)
            do {
                return try await StoreCopy(from: tables, to: others)
                    .run(reporting: reporting)
            } catch {
                try await others.close()
                throw error
            }
        default: preconditionFailure("validated before")
        }
    }
}
