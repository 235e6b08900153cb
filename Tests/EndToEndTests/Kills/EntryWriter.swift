// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// A device that writes: single records and batches, atomic and not, each write under its request ID. A write without an answer is sent again as it was, until there is one.
struct EntryWriter: Sendable {
    let device: WireDevice
    let ledger: Ledger
    let name: String

    /// A record of this writer that it may still change.
    private struct Own {
        var name: String
        var tag: String
        var isUpdated = false
    }

    /// How many records a writer keeps to change them.
    private static let mostOwn = 12

    /// Writes until the task is cancelled and the last write is answered.
    func write(seed: UInt64) async {
        var random = SeededGenerator(seed: seed)
        var own: [Own] = []
        var count = 0
        func next() -> Int {
            count += 1
            return count
        }
        func newName() -> String { "\(name)-\(next())" }
        while !Task.isCancelled {
            await ledger.pace()
            var operations: [WireOperation] = []
            var isAtomic = false
            var fails = false
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3: operations = [.create(newName(), next())]
            // The server chooses the name: done twice there are two.
            case 3: operations = [.create(nil, next())]
            case 4, 5:
                guard let change = change(&own, next(), &random) else { continue }
                operations = [change]
            case 6, 7:
                operations = (0..<Int.random(in: 2...6, using: &random)).map { _ in
                    .create(newName(), next())
                }
                if let change = change(&own, next(), &random) { operations.append(change) }
                isAtomic = Bool.random(using: &random)
            case 8:
                // One operation fails, and does so alone.
                operations = [
                    .create(newName(), next()), .delete("nobody-\(name)", tag: "x"),
                    .create(newName(), next()),
                ]
            default:
                // One operation fails, and all others with it.
                operations = (0..<3).map { _ in .create(newName(), next()) }
                operations.append(.delete("nobody-\(name)", tag: "x"))
                (isAtomic, fails) = (true, true)
            }
            let answers = await send(
                WireModify(atomic: isAtomic, operations: operations), number: next()
            )
            guard let answers, answers.count == operations.count else {
                ledger.violation("\(name): \(operations.count) operations, other answers")
                continue
            }
            take(answers, to: operations, fails: fails, into: &own)
        }
        for own in own { ledger.settled(own.name) }
    }

    /// An update or deletion of a record of one's own, under its change tag.
    private func change(
        _ own: inout [Own], _ number: Int, _ random: inout SeededGenerator
    ) -> WireOperation? {
        guard let index = own.indices.randomElement(using: &random) else { return nil }
        let entry = own.remove(at: index)
        return entry.isUpdated || Bool.random(using: &random)
            ? .delete(entry.name, tag: entry.tag)
            : .update(entry.name, tag: entry.tag, number)
    }

    /// Sends a request until it is answered.
    private func send(_ request: WireModify, number: Int) async -> [WireEntry]? {
        while true {
            ledger.note(begun: 1)
            do {
                defer { ledger.note(ended: 1) }
                // In a task of its own: stopping the writer does not cut its last write.
                let answer: WireEntries = try await Task {
                    try await device.post(
                        "private/records/modify", request, as: "\(name)/\(number)"
                    )
                }.value
                if let code = answer.serverErrorCode {
                    ledger.violation("\(name): \(code), \(answer.reason ?? "")")
                }
                return answer.records
            } catch is WireDevice.Unanswered {
                ledger.note(repeated: 1)
                try? await Task { try await Task.sleep(for: .milliseconds(5)) }.value
            } catch {
                ledger.violation("\(name): an answer cannot be read: \(error)")
                return nil
            }
        }
    }

    private func take(
        _ answers: [WireEntry], to operations: [WireOperation], fails: Bool, into own: inout [Own]
    ) {
        if fails {
            for (operation, answer) in zip(operations, answers) where answer.serverErrorCode == nil
            {
                let name = operation.record.recordName ?? ""
                ledger.violation("\(name) of an atomic batch that failed was acknowledged")
            }
            return ledger.refused(operations.compactMap(\.record.recordName))
        }
        for (operation, answer) in zip(operations, answers) {
            if operation.record.recordName?.hasPrefix("nobody") == true {
                if answer.serverErrorCode == nil {
                    ledger.violation("what does not exist was deleted")
                }
                continue
            }
            ledger.acknowledged(operation, answer)
            guard answer.serverErrorCode == nil, operation.operationType != .delete,
                let name = answer.recordName, let tag = answer.recordChangeTag
            else { continue }
            let isUpdated = operation.operationType == .update
            own.append(Own(name: name, tag: tag, isUpdated: isUpdated))
            if own.count > Self.mostOwn { ledger.settled(own.removeFirst().name) }
        }
    }
}
