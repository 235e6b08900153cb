// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellCore
import TidebellPostgres
import TidebellScheduling
import TidebellServer
import TidebellWire

/// `tidebell cell`.
struct CellCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cell",
        abstract: "Spread a cloud over several PostgreSQL clusters.",
        discussion: """
            The database that servers are started with has the directory and the names of accounts. Each new account, with \
            its sessions, databases, devices and what those are told, comes to one of the cells, and so does each new \
            container's public database.
            """,
        subcommands: [Add.self, List.self, Change.self, Move.self]
    )

    /// Runs `body` with the address of the database that has the directory.
    private static func withDirectory<Result>(
        _ data: DataOption, _ body: (CellDirectory.Address) throws -> Result
    ) throws -> Result {
        guard let address = data.databaseAddress else {
            throw ValidationError(
                "Name the database that servers are started with: --store postgres://USER@HOST/DATABASE"
            )
        }
        do {
            return try CellDirectory.reaching(address, body)
        } catch let error as CellDirectory.Refusal {
            throw OperatorError(sentence(error.description))
        } catch let error as CellMove.Refusal {
            throw OperatorError(sentence(error.description))
        } catch let error as StoreOpenError {
            throw OperatorError(error.description)
        }
    }

    private static func sentence(_ text: String) -> String {
        "\(text.prefix(1).uppercased())\(text.dropFirst())."
    }

    /// `tidebell cell add`.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a cell: an empty database becomes a part of the cloud.",
            discussion: """
                Stop all servers of the cloud before, and start them again: they look for the cells when they start.
                """
        )

        @Argument(help: "What the cell is called, such as 'west'.") var name: String
        @Argument(
            help: ArgumentHelp(
                "The empty database, as libpq writes it, without a password.",
                valueName: "address")) var address: String

        @Flag(
            inversion: .prefixedNo,
            help: "Let new accounts, users and containers come to this cell.")
        var takesNew = true

        @OptionGroup var data: DataOption

        func run() async throws {
            try CellCommand.withDirectory(data) {
                try CellDirectory.add(
                    name, at: address, to: $0, identity: .random(in: .min ... .max),
                    takesNew: takesNew)
            }
            printLine(
                """
                Added cell '\(name)'. Start the servers again, each with the password of that database in its password \
                file. What is in the cells: tidebell cell list\(data.hint)
                """)
        }
    }

    /// `tidebell cell list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print all cells, with how much is in each.")

        @OptionGroup var data: DataOption

        func run() async throws {
            let cells = try CellCommand.withDirectory(data) { try CellDirectory.list(at: $0) }
            guard !cells.isEmpty else {
                return printError(
                    "The cloud is in one database. Add a cell: tidebell cell add NAME ADDRESS\(data.hint)"
                )
            }
            for cell in cells {
                let holds =
                    cell.problem.map { "cannot be read: \($0)" }
                    ?? "\(counted(cell.databases ?? 0, "database")), "
                    + "\(counted(Int(cell.records ?? 0), "record")), "
                    + "\(cell.bytes ?? 0) bytes"
                printLine(
                    "\(cell.number)\t\(cell.name)\t\(cell.takesNew ? "takes new" : "takes no new")\t\(holds)\t\(cell.place)"
                )
                for move in cell.movesTo {
                    for line in lines(of: move, to: cell.name) { printLine("\t\t\(line)") }
                }
            }
            if cells.contains(where: { $0.problem != nil }) { throw ExitCode.failure }
        }

        private func lines(of move: CellDirectory.Move, to cell: String) -> [String] {
            guard let options = move.options else {
                return ["a move of user \(move.owner), whose account is gone, has not ended"]
            }
            let cancel = "tidebell cell move --cancel \(options)\(data.hint)"
            guard !move.isGivenUp else {
                return ["a move was given up; what was copied here is removed with: \(cancel)"]
            }
            let goOn =
                "a move has not ended; it goes on with: tidebell cell move \(cell) \(options)\(data.hint)"
            return move.isSwitched ? [goOn] : [goOn, "it is given up with: \(cancel)"]
        }
    }

    /// `tidebell cell move`.
    struct Move: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Move a user, or a public database, to another cell.",
            discussion: """
                They stay in use: they are copied, and what changes meanwhile, too; at the end their writes wait for \
                some seconds. Apps notice nothing else. A move that was interrupted goes on when it is run again; with \
                --cancel in place of the cell it is given up, and all stays where it was.
                """)

        @Argument(help: "The cell, as `tidebell cell list` prints it.") var cell: String?
        @Flag(help: "Give up a move that was interrupted, also while the other cell is away.")
        var cancel = false

        @Option(help: "The user, by the name of the account.") var user: String?
        @Option(help: "The container; with a user, what is theirs in that container alone.")
        var container: String?
        @Option(help: "The environment of the container.") var environment =
            CloudEnvironment.development

        @OptionGroup var data: DataOption

        func validate() throws {
            guard user != nil || container != nil else {
                throw ValidationError(
                    "Say what is to move: --user NAME, or --container NAME for its public database."
                )
            }
            guard cancel == (cell == nil) else {
                throw ValidationError(
                    cancel
                        ? "A move that is given up needs no cell."
                        : "Name the cell, as `tidebell cell list` prints it.")
            }
        }

        func run() async throws {
            let key = container.map { ContainerKey(container: $0, environment: environment) }
            let start = ContinuousClock.now
            let moved = try CellCommand.withDirectory(data) { directory in
                let subjects = try CellDirectory.subjects(of: user, in: key, at: directory)
                for subject in subjects {
                    let what = subject.described(as: user)
                    guard let cell else {
                        try giveUp(subject, what, in: directory)
                        continue
                    }
                    let outcome: CellMove.Outcome
                    do {
                        outcome = try CellMove.run(
                            subject, to: cell, in: directory,
                            now: { Time.system.now() }, elapsed: { start.duration(to: .now) },
                            wait: { Thread.sleep(forTimeInterval: $0 / .seconds(1)) })
                    } catch let refusal as CellMove.Refusal where refusal.isNothingToDo {
                        printLine("\(what): \(refusal).")
                        continue
                    }
                    printLine(
                        """
                        Moved \(what) to cell '\(cell)': \(counted(outcome.followed, "row")) while it was in use, and \
                        \(counted(outcome.held, "row")) at the end, when its writes waited for \
                        \(outcome.pause.formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1)))).
                        """)
                }
                return subjects.count
            }
            guard moved > 0 else {
                throw OperatorError(
                    "There is nothing to move: there is no user '\(user ?? "")', or nothing of theirs there."
                )
            }
        }

        private func giveUp(
            _ subject: CellMove.Subject, _ what: String, in directory: CellDirectory.Address
        ) throws {
            do {
                let failure = try CellMove.cancel(subject, in: directory)
                printLine("Gave up the move of \(what): it is where it was.")
                guard let failure else { return }
                printError(
                    "What was copied is still in the other cell, and counts there: \(failure). Run this again when it is back."
                )
            } catch CellMove.Refusal.notBegun where user != nil && container == nil {
                // Of what a user has, one part after the other moves.
                printLine("\(what): \(CellMove.Refusal.notBegun).")
            }
        }
    }

    /// `tidebell cell change`.
    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Say whether new accounts, users and containers come to a cell, or where it is.",
            discussion: """
                Servers that run notice within seconds whether a cell takes new ones. To say where it is from now on, stop them first: \
                they look for that when they start.
                """)

        @Argument(help: "The cell, as `tidebell cell list` prints it.") var name: String

        @Flag(
            inversion: .prefixedNo,
            help: "Let new accounts, users and containers come to this cell.")
        var takesNew: Bool?

        @Option(help: "The address of its database from now on, without a password.")
        var address: String?

        @OptionGroup var data: DataOption

        func validate() throws {
            guard takesNew != nil || address != nil else {
                throw ValidationError("Say --takes-new, --no-takes-new or --address.")
            }
        }

        func run() async throws {
            if let address {
                try CellCommand.withDirectory(data) {
                    try CellDirectory.change(name, address: address, in: $0)
                }
                printLine("Cell '\(name)' is at its new address. Start the servers.")
            }
            guard let takesNew else { return }
            try CellCommand.withDirectory(data) {
                try CellDirectory.change(name, takesNew: takesNew, in: $0)
            }
            printLine(
                takesNew
                    ? "New accounts, users and containers come to cell '\(name)', too."
                    : "No new accounts, users or containers come to cell '\(name)'.")
        }
    }
}
