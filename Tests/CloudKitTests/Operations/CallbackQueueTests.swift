// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

@Suite("Where callbacks are called")
@MainActor
struct CallbackQueueTests {
    private let device = TestDevice(
        ScriptedTransport { sent, _ in .json(EchoServer.answer(sent)) }
    )

    @Test(
        "OP-12: callbacks of an operation started on the main queue come from another one",
        arguments: ObservedOperation.kinds
    )
    func operations(kind: ObservedOperation.Kind) async {
        #expect(MainQueue.isCurrent)
        let observed = ObservedOperation(kind)
        observed.operation?.belong(to: device)
        await observed.finished { observed.operation?.start() }
        #expect(observed.problem() == nil)
        #expect(observed.eventsOnMainQueue == [])
    }

    @Test("OP-12: completion handlers are not called on the main queue")
    func completionHandlers() async {
        let database = device.database
        let container = device.container
        let areOnMainQueue = await [
            handled { done in
                database.save(Sample.record("a")) { _, _ in done(MainQueue.isCurrent) }
            },
            handled { done in
                database.fetch(withRecordID: Sample.id("a")) { _, _ in done(MainQueue.isCurrent) }
            },
            handled { done in
                database.fetchAllRecordZones { _, _ in done(MainQueue.isCurrent) }
            },
            handled { done in container.accountStatus { _, _ in done(MainQueue.isCurrent) } },
            handled { done in container.fetchUserRecordID { _, _ in done(MainQueue.isCurrent) } },
        ]
        #expect(areOnMainQueue == [false, false, false, false, false])
    }

    /// Calls a method on the main queue; returns what its handler got.
    private func handled(
        _ call: (@escaping @Sendable (Bool) -> Void) -> Void
    ) async -> Bool {
        await withCheckedContinuation { continuation in
            call { continuation.resume(returning: $0) }
        }
    }
}
