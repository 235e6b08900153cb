// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Testing

/// What the kill test compares is seen where it is wrong, so that the test can fail.
@Suite("The ledger of the kill test")
struct LedgerTests {
    private typealias Pushes = [Ledger.Change: ReceivedPushes.ReceivedChange]

    private static let created = Ledger.Change(name: "a", event: .created)
    private static let updated = Ledger.Change(name: "a", event: .updated)
    private static let deleted = Ledger.Change(name: "a", event: .deleted)
    private static let other = Ledger.Change(name: "b", event: .created)

    /// A record that was created and updated, one that was created, one of a batch that failed
    /// and one that was deleted.
    private let truth = Ledger.Contents(
        entries: ["a": .init(tag: "2", number: 20), "b": .init(tag: "3", number: 30)],
        deleted: ["d"], refused: ["c"],
        changes: [created: 10, updated: 20, other: 30],
        positions: [created: 1, updated: 2, other: 3]
    )
    private let pushes: Pushes = [
        created: .init(ids: ["1"], numbers: [10], position: 0),
        updated: .init(ids: ["2"], numbers: [20], position: 1),
        other: .init(ids: ["3"], numbers: [30], position: 2),
    ]

    private func problems(_ change: (inout Pushes) -> Void) -> [String] {
        var received = pushes
        change(&received)
        return truth.problems(inPushes: received, of: "phone")
    }

    @Test("PUSH-14: a push that is lost, doubled, wrong, early or made up is seen, and no other")
    func badPushes() {
        #expect(problems { _ in } == [])
        #expect(
            problems { $0[Self.updated] = nil } == ["phone was not notified of a (updated)"])
        #expect(
            problems { $0[Self.updated]?.ids = ["2", "4"] } == ["phone: a (updated) has 2 IDs"])
        #expect(
            problems { $0[Self.updated]?.numbers = [20, 10] }
                == ["phone: a (updated) has [10, 20], not 20"])
        #expect(
            problems { $0[Self.updated]?.numbers = [] } == ["phone: a (updated) has [], not 20"])
        #expect(
            problems { $0[Self.created]?.position = 3 }
                == ["phone: a (created) came after b (created)"])
        #expect(
            problems { $0[Self.other]?.ids = ["1"] }
                == ["phone: [\"a (created)\", \"b (created)\"] have one ID"])
        let failed = Ledger.Change(name: "c", event: .created)
        #expect(
            problems { $0[failed] = .init(ids: ["5"], numbers: [40], position: 3) }
                == ["phone was notified of c (created), which did not happen"])
    }

    @Test("PUSH-13: a deletion that is notified of before what it deletes was written is seen")
    func earlyDeletion() {
        var truth = truth
        truth.changes[Self.deleted] = 20
        var received = pushes
        received[Self.deleted] = .init(ids: ["4"], numbers: [20], position: 3)
        #expect(truth.problems(inPushes: received, of: "phone") == [])
        received[Self.updated]?.position = 4
        received[Self.other]?.position = 5
        #expect(
            truth.problems(inPushes: received, of: "phone")
                == ["phone: a (deleted) came before a (updated)"])
    }

    @Test("PUSH-14: two devices that are notified of a change by other pushes are seen")
    func otherPushes() {
        var received = pushes
        func problems() -> [String] {
            truth.problems(inPushes: received, besidePushes: pushes, of: "pad")
        }
        #expect(problems() == [])
        received[Self.other]?.ids = ["6"]
        #expect(
            problems() == ["pad was notified of b (created) by another push than others"])
    }

    @Test("A webhook's message that is lost, doubled or made up is seen, and no other")
    func badMessages() {
        let sound = pushes.mapValues(\.ids)
        func problems(_ change: (inout [Ledger.Change: Set<String>]) -> Void) -> [String] {
            var received = sound
            change(&received)
            return truth.problems(inMessages: received, besidePushes: pushes)
        }
        #expect(problems { _ in } == [])
        #expect(problems { $0[Self.other] = nil } == ["the webhook got nothing of b (created)"])
        #expect(
            problems { $0[Self.other] = ["3", "7"] }
                == ["the webhook got b (created) by other pushes"])
        let failed = Ledger.Change(name: "c", event: .created)
        #expect(
            problems { $0[failed] = ["8"] }
                == ["the webhook was notified of c (created), which did not happen"])
    }

    @Test("A record that is lost, old, doubled, back or of half a batch is seen, and no other")
    func badRecords() {
        func problems(_ change: (inout [String: Ledger.Entry]) -> Void) -> [String] {
            var found = truth.entries
            change(&found)
            return truth.problems(inRecords: found, of: "pad")
        }
        let entry = Ledger.Entry(tag: "9", number: 9)
        let whole = Ledger.Entry(tag: "3", number: 30)
        #expect(problems { _ in } == [])
        #expect(problems { $0["b"] = nil } == ["pad: b is lost, not \(whole)"])
        #expect(problems { $0["b"] = entry } == ["pad: b is \(entry), not \(whole)"])
        #expect(problems { $0["c"] = entry } == ["pad: c is of a batch that failed"])
        #expect(problems { $0["d"] = entry } == ["pad: d was deleted"])
        #expect(problems { $0["e"] = entry } == ["pad: e was done twice"])
    }

    /// The answer to an operation of a writer.
    private func answer(_ name: String, tag: String, _ number: Int) -> WireEntry {
        WireEntry(
            recordName: name, recordChangeTag: tag, fields: ["value": WireValue(value: number)])
    }

    @Test("A tag that is given twice, another value and a refused write are violations")
    func badAnswers() {
        let ledger = Ledger()
        ledger.acknowledged(.create("a", 1), answer("a", tag: "1", 1))
        #expect(ledger.contents.violations == [])
        ledger.acknowledged(.create("b", 2), answer("b", tag: "1", 2))
        ledger.acknowledged(.create("c", 3), answer("c", tag: "3", 1))
        var refused = answer("a", tag: "", 0)
        refused.serverErrorCode = "CONFLICT"
        ledger.acknowledged(.update("a", tag: "1", 4), refused)
        #expect(
            ledger.contents.violations == [
                "the change tag '1' was given twice", "c was answered with 1",
                "update of a was refused: CONFLICT, ",
            ])
    }

    @Test("ASSET-4: a file that is lost, cut or another's is seen, and no other")
    func badFiles() {
        let digests = ["one", "two", "three"].map { SHA256.hash(data: Data($0.utf8)) }
        let saved = FileWriter.Saved(
            acknowledged: ["a": digests[0], "b": digests[1]], unknown: ["c": digests[2]])
        func problems(_ change: (inout [String: FileWriter.Found]) -> Void) -> [String] {
            var found = saved.acknowledged.mapValues { FileWriter.Found(digest: $0) }
            change(&found)
            return saved.problems(in: found)
        }
        #expect(problems { _ in } == [])
        #expect(problems { $0["a"] = nil } == ["the record of a is lost"])
        #expect(problems { $0["a"] = .init(digest: nil) } == ["the file of a is lost"])
        #expect(
            problems { $0["a"] = .init(digest: digests[1]) } == ["the file of a is another one"])
        // A save that got no answer may have been done, whole.
        #expect(problems { $0["c"] = .init(digest: digests[2]) } == [])
        #expect(
            problems { $0["c"] = .init(digest: digests[0]) } == ["the file of c is another one"])
        #expect(problems { $0["c"] = .init(digest: nil) } == ["the file of c is lost"])
    }
}
