// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPush
import TidebellWire
import TestSupport

/// What happens to one cloud, from its start to its end; decided by a seed.
package struct Walk: Sendable, Hashable {
    /// The seed of all chance, of the walk's and the server's.
    package let seed: UInt64
    /// How many users there are.
    let users: Int
    /// How many outbox entries a pass takes.
    let entriesPerPass: Int
    /// How many notifications a pass makes.
    let notificationsPerPass: Int
    /// How many notifications wait for one stream.
    let waitingPerStream: Int
    /// Whether devices sync, and the store comes back from older moments.
    let hasReturns: Bool
    /// Whether requests are sent again, files are uploaded, and the pipeline runs by itself.
    let isWide: Bool
    /// How many pipelines share the work.
    let pipelines: Int
    /// Whether zones are shared, which is all that happens then.
    let hasSharing: Bool
    /// Whether queries are asked, and indexes come and go.
    let hasQueries: Bool
    /// How many records follow what is above them with the save itself.
    let movedRecords: Int
    var steps: [Step]

    /// Makes the walk of a seed, of 40 to 80 steps; twice as many with returns of the store to
    /// older moments.
    package init(
        seed: UInt64, hasReturns: Bool = false, isWide: Bool = false, pipelines: Int = 1,
        hasSharing: Bool = false, hasQueries: Bool = false
    ) {
        var planner = Planner(seed: seed)
        self.seed = seed
        users = planner.users
        entriesPerPass = planner.dice.pick([1, 3, 64])
        notificationsPerPass = planner.dice.pick([1, 3, 5000])
        waitingPerStream = planner.dice.pick([2, 64])
        self.hasReturns = hasReturns
        self.isWide = isWide
        self.pipelines = pipelines
        self.hasSharing = hasSharing
        self.hasQueries = hasQueries
        movedRecords = hasSharing ? planner.dice.pick([0, 0, 1, 2, 3, 400]) : Limits().movedRecords
        guard !hasSharing else {
            steps = planner.sharedSteps()
            return
        }
        let count = Int.random(in: 40...80, using: &planner.dice)
        steps = planner.prelude()
        while steps.count < count { steps.append(planner.step()) }
        if hasReturns { steps = planner.returns(among: steps) }
        if isWide { steps = planner.widened(steps) }
        if hasQueries { steps = planner.queried(steps) }
        if pipelines > 1 { steps = planner.sharing(steps, among: pipelines) }
    }
}

extension Walk: CustomStringConvertible {
    /// The steps, one in each line.
    package var description: String {
        let head =
            "seed \(seed): \(users) users; a pass takes \(entriesPerPass) entries and makes "
            + "\(notificationsPerPass) notifications; \(waitingPerStream) notifications wait for a "
            + "stream; \(pipelines) pipelines; \(movedRecords) records follow at once"
        let lines = steps.enumerated().map { "  \($0.offset + 1). \($0.element)" }
        return ([head] + lines).joined(separator: "\n")
    }
}

/// The names that walks use.
enum Names {
    static let customZones = ["red", "blue"]
    static let types = ["Note", "Task"]
    /// Records; the first part is the type.
    static let records = types.flatMap { type in (1...4).map { "\(type)-\($0)" } }
    /// What files hold: their names stand for their bytes.
    static let contents = ["apple", "pear", "plum"]
    static let subscriptions = ["s1", "s2", "s3", "s4"]

    /// The devices of a user that hold a stream open.
    static func streamers(of user: Int) -> [String] { ["phone-\(user)", "pad-\(user)"] }

    /// The device of a user that polls a courier.
    static func page(of user: Int) -> String { "page-\(user)" }

    /// A client of a user that writes and never registers as a device.
    static func tool(of user: Int) -> String { "tool-\(user)" }

    /// The type of a record with this name.
    static func type(of record: String) -> String { String(record.prefix { $0 != "-" }) }
}
