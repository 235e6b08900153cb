// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellPostgresClient
package import TidebellWire

/// Moves people and databases from one cell to another while they are in use.
package struct CellMove {
    /// What moves as one: a user with the private and the shared database, the log of notifications and devices, or the
    /// public database of a container.
    package struct Subject: Sendable, Hashable {
        /// Nil for the public database.
        package var owner: UserID?
        package var container: ContainerKey

        package init(owner: UserID?, container: ContainerKey) {
            self.owner = owner
            self.container = container
        }

        /// What it is, in words.
        ///
        /// - Parameter account: The name of the owner's account.
        package func described(as account: String?) -> String {
            let place = "\(container.container) (\(container.environment.rawValue))"
            return account.map { "what user '\($0)' has in \(place)" }
                ?? "the public database of \(place)"
        }

        /// That of a database.
        init(of database: DatabaseKey) {
            self.init(owner: database.owner, container: database.container)
        }

        /// Reads a row that begins with the owner, the container and the environment.
        init(_ row: PostgresRow) {
            let owner = row.int(0)
            self.init(
                owner: owner == 0 ? nil : UserID(rawValue: owner),
                container: ContainerKey(
                    container: row.string(1),
                    environment: CloudEnvironment(rawValue: row.string(2)) ?? .development))
        }
    }
}

extension CellMove {
    /// Why nothing is moved.
    package enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        case unknownCell(String)
        case isThere(String)
        case onItsWay(to: String)
        case nothingThere
        case isMoving
        case differs(table: String)
        case notBegun
        case givenUp
        case hasMoved(to: String)

        /// Whether there is nothing to be moved.
        package var isNothingToDo: Bool {
            switch self {
            case .isThere, .nothingThere: true
            default: false
            }
        }

        package var description: String {
            switch self {
            case .unknownCell(let name): "there is no cell named '\(name)'"
            case .isThere(let name): "it is in cell '\(name)' already"
            case .onItsWay(let name):
                "a move to cell '\(name)' has begun and not ended; run that once more first, which goes on where it was, or "
                    + "give it up with --cancel"
            case .nothingThere: "there is nothing there to be moved"
            case .isMoving:
                "something else of this cloud is being moved at this moment; try again when that has ended"
            case .differs(let table):
                "the rows of the table '\(table)' are not the same after they were copied; it stays where it "
                    + "was, and the same command tries again"
            case .notBegun: "no move of it has begun"
            case .givenUp: "it was given up meanwhile; it stays where it was"
            case .hasMoved(let name):
                "it is in cell '\(name)' already, and may have changed there; run the move there once more, which ends it"
            }
        }
    }

    /// What a move did.
    package struct Outcome: Sendable, Hashable {
        /// Rows that were copied while it was in use.
        package var followed = 0
        /// Rows that were copied while it was held.
        package var held = 0
        /// How long its writes waited.
        package var pause = Duration.zero
    }

    /// Where a move has got to.
    enum Stage: Sendable, CaseIterable {
        case copied, held, fenced, switched, opened
    }

    /// The most times that what changed meanwhile is copied before it is held.
    private static let mostPasses = 5
    /// So few rows are copied while it is held.
    private static let fewRows = 2000
    /// How long the changes that are to be notified may take to be so.
    private static let longestDrain = Duration.seconds(10)
    /// How long everybody takes to know what the directory says, at most.
    private static let spreading = CellMap.lifetime + .milliseconds(500)

    /// Moves a subject to a cell: copies it while it is in use, and what changed meanwhile, until little is left;
    /// then holds its writes, copies the rest, switches the directory, and lets them go on in the new cell. Sync
    /// tokens, subscriptions and positions stay what they are.
    ///
    /// One that was interrupted goes on when it is run again. Until the switch it stays where it was, but that
    /// its writes wait from the moment it was held; ``cancel(_:in:)`` gives it up until then.
    ///
    /// - Parameters:
    ///   - wait: Waits; not on a thread of Swift's concurrency.
    ///   - reached: Told of each stage; what it throws ends the move there, as the end of the process would.
    package static func run(
        _ subject: Subject, to name: String, in directory: PostgresAddress,
        now: () -> Instant, elapsed: () -> Duration, wait: (Duration) -> Void
    ) throws -> Outcome {
        try run(subject, to: name, in: directory, now: now, elapsed: elapsed, wait: wait) { _ in }
    }

    static func run(
        _ subject: Subject, to name: String, in directory: PostgresAddress,
        now: () -> Instant, elapsed: () -> Duration, wait: (Duration) -> Void,
        reached: (Stage) throws -> Void
    ) throws -> Outcome {
        let plan = try MovePlan(of: subject, to: name, in: directory)
        defer { plan.close() }
        var outcome = Outcome()
        if !plan.isSwitched {
            for _ in 0..<mostPasses {
                let copied = try plan.copyInUse()
                outcome.followed += copied
                if copied < fewRows { break }
            }
            try reached(.copied)
            let start = elapsed()
            try plan.hold()
            wait(spreading)
            try reached(.held)
            do {
                // Those who wait for pushes do not wait for the new cell's passes.
                let end = elapsed() + longestDrain
                while try plan.hasPendingChanges(at: now()), elapsed() < end {
                    wait(.milliseconds(50))
                }
                outcome.held = try plan.copyRest()
            } catch {
                // Where it was, it goes on.
                if (try? plan.isFenced()) == false { try? plan.release() }
                throw error
            }
            try reached(.fenced)
            try plan.switchDirectory()
            try reached(.switched)
            wait(spreading)
            try plan.release()
            outcome.pause = elapsed() - start
        } else {
            wait(spreading)
            try plan.release()
        }
        try reached(.opened)
        wait(spreading)
        try plan.removeOld()
        return outcome
    }
}
