// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What the server owes its users: every write that was acknowledged, under names that are used once.
final class Ledger: Sendable {
    /// A record as the last acknowledged write left it.
    struct Entry: Hashable {
        var tag: String
        var number: Int
    }

    /// What a device is notified of once; a name is created, updated and deleted at most once each.
    struct Change: Hashable {
        /// As a push names it: 1 for a creation, 2 for an update, 3 for a deletion.
        enum Event: Int {
            case created = 1
            case updated, deleted
        }

        var name: String
        var event: Event
    }

    /// Everything that is known.
    struct Contents {
        /// The records that are there.
        var entries: [String: Entry] = [:]
        /// The records that are not there any more.
        var deleted: Set<String> = []
        /// The names of batches that had to fail.
        var refused: Set<String> = []
        /// Every change, with the number that it wrote.
        var changes: [Change: Int] = [:]
        /// Where each creation and update is among all changes of its database: what its change tag says.
        var positions: [Change: Int64] = [:]
        /// The change tags that were given.
        var tags: Set<String> = []
        /// What should not have happened, as sentences.
        var violations: [String] = []
        var acknowledged = 0
        /// Requests under way now.
        var underWay = 0
        /// Requests that got no answer and were sent again.
        var repeated = 0
        /// Names that no writer touches any more, since the last look.
        var settled: [String] = []
        /// The load that each fault met.
        var loads: [Load] = []
        /// How many writes had been acknowledged when the last fault was over.
        var acknowledgedBefore = 0
    }

    /// What a fault met.
    struct Load {
        /// How many writes were acknowledged since the fault before it was over.
        var acknowledged: Int
        /// How many were under way.
        var underWay: Int
    }

    private let state = Mutex(Contents())

    /// A copy of all.
    var contents: Contents { state.withLock(\.self) }
    var acknowledged: Int { state.withLock(\.acknowledged) }
    var underWay: Int { state.withLock(\.underWay) }

    /// Notes something that should not have happened.
    func violation(_ sentence: String) {
        state.withLock { $0.violations.append(sentence) }
    }

    /// Notes that requests begin, end, or are sent again.
    func note(begun: Int = 0, ended: Int = 0, repeated: Int = 0) {
        state.withLock {
            $0.underWay += begun - ended
            $0.repeated += repeated
        }
    }

    /// Notes that a fault comes now.
    func noteFault() {
        state.withLock { contents in
            contents.loads.append(
                Load(
                    acknowledged: contents.acknowledged - contents.acknowledgedBefore,
                    underWay: contents.underWay))
        }
    }

    /// Notes that a fault is over.
    func noteEndOfFault() {
        state.withLock { $0.acknowledgedBefore = $0.acknowledged }
    }

    /// Waits a moment where much was written since the last fault: one may take a minute, and what is written has to be
    /// looked at, and moved, by all that follow.
    func pace() async {
        let written = state.withLock { $0.acknowledged - $0.acknowledgedBefore }
        guard written > Self.writesWithoutPause else { return }
        // NB: one that is to stop does not wait.
        try? await Task.sleep(for: Self.pause)
    }

    /// More than each fault waits for.
    private static let writesWithoutPause = 120
    private static let pause = Duration.seconds(2)

    /// Notes that a batch was refused, as it had to be.
    func refused(_ names: [String]) {
        state.withLock { $0.refused.formUnion(names) }
    }

    /// Notes the answer to an operation that had to succeed.
    func acknowledged(_ operation: WireOperation, _ answer: WireEntry) {
        state.withLock { contents in
            let name = answer.recordName ?? operation.record.recordName ?? ""
            if let code = answer.serverErrorCode {
                // A write that was done twice, or lost after it was acknowledged, shows here.
                return contents.violations.append(
                    "\(operation.operationType) of \(name) was refused: \(code), "
                        + (answer.reason ?? "")
                )
            }
            contents.acknowledged += 1
            if operation.operationType == .delete {
                let old = contents.entries.removeValue(forKey: name)
                contents.deleted.insert(name)
                contents.changes[Change(name: name, event: .deleted)] = old?.number ?? 0
                contents.settled.append(name)
                return
            }
            let tag = answer.recordChangeTag ?? ""
            if !contents.tags.insert(tag).inserted {
                contents.violations.append("the change tag '\(tag)' was given twice")
            }
            let number = operation.record.number ?? 0
            if answer.number != number {
                contents.violations.append("\(name) was answered with \(answer.number ?? 0)")
            }
            let isNew = operation.operationType == .create
            contents.entries[name] = Entry(tag: tag, number: number)
            let change = Change(name: name, event: isNew ? .created : .updated)
            contents.changes[change] = number
            contents.positions[change] = Int64(tag, radix: 36)
        }
    }

    /// Notes that no writer touches a name any more.
    func settled(_ name: String) {
        state.withLock { $0.settled.append(name) }
    }

    /// Takes the names that were settled since the last call, the newest `limit` of them.
    func takeSettled(limit: Int) -> [String] {
        state.withLock { contents in
            defer { contents.settled = [] }
            return Array(contents.settled.suffix(limit))
        }
    }
}
