// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import CloudKit

/// Whatever happens to its requests, and whenever it is cancelled, an operation reports
/// everything once, the result last, and ends.
@Suite("No lost completion", .hangs)
struct ExactlyOnceTests {
    /// What happens to one request.
    enum Fault: CaseIterable {
        case none, unreachable, lost, timedOut, serverError, throttled, busy
        case noJSON, cutOff, wrongTypes, wrongCount, itemError, emptyAnswer
    }

    /// How an operation is started.
    enum Start: CaseIterable {
        case directly, database, container, ownQueue
    }

    private static let runs = 1500

    @Test(
        "OP-3, OP-8: under any fault, cancelled at any moment, every block is called once, the result last"
    )
    func everyBlockOnce() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for run in 0..<Self.runs {
            guard let kind = ObservedOperation.kinds.randomElement(using: &random) else { return }
            let story = Story(random: &random)
            let problem = await Self.run(kind, story)
            #expect(problem == nil, "run \(run) of seed \(seed): \(kind) \(story)")
        }
    }

    @Test(
        "OP-11: where new callbacks are set, no old one is called",
        arguments: ObservedOperation.kindsWithOldCallbacks)
    func newCallbacksWin(kind: ObservedOperation.Kind) async {
        let observed = ObservedOperation(kind)
        let log = CallbackLog()
        observed.setOldCallbacks(log)
        let transport = ScriptedTransport { sent, _ in .json(EchoServer.answer(sent)) }
        let device = TestDevice(transport)
        await observed.finished {
            if let operation = observed.operation { device.add(operation) }
        }
        #expect(observed.problem() == nil)
        #expect(observed.events.count > (kind == .fetchWebAuthToken ? 1 : 2))
        #expect(log.lines == [])
    }

    /// What is to happen in a run.
    struct Story: Sendable {
        var faults: [Fault]
        var start: Start
        var quality: QualityOfService
        /// The request during which the operation is cancelled; nil for none.
        var cancelAtRequest: Int?
        /// The callback in which it is cancelled.
        var cancelAtCallback: Int?
        var isCancelledBefore: Bool

        init(random: inout some RandomNumberGenerator) {
            faults = (0..<6).map { _ in
                Bool.random(using: &random)
                    ? .none : Fault.allCases.randomElement(using: &random) ?? .none
            }
            start = Start.allCases.randomElement(using: &random) ?? .directly
            quality =
                [.userInitiated, .default, .utility, .background].randomElement(using: &random)
                ?? .default
            let cancels = Int.random(in: 0..<6, using: &random)
            cancelAtRequest = cancels == 0 ? Int.random(in: 0..<4, using: &random) : nil
            cancelAtCallback = cancels == 1 ? Int.random(in: 0..<6, using: &random) : nil
            isCancelledBefore = cancels == 2 && Bool.random(using: &random)
        }
    }

    /// Runs an operation; returns what was wrong, nil for nothing.
    private static func run(_ kind: ObservedOperation.Kind, _ story: Story) async -> String? {
        let observed = ObservedOperation(kind)
        let operation = WeakOperation(value: observed.operation)
        observed.cancelAtCallback = story.cancelAtCallback
        let transport = ScriptedTransport { [weak observed] sent, number in
            if number == story.cancelAtRequest { observed?.operation?.cancel() }
            await Task.yield()
            return try answer(
                sent, story.faults.indices.contains(number) ? story.faults[number] : .none)
        }
        let device = TestDevice(transport, clock: SkippingClock())
        observed.operation?.configuration.qualityOfService = story.quality
        if story.isCancelledBefore { operation.value?.cancel() }
        await observed.finished {
            guard let operation = observed.operation else { return }
            switch story.start {
            case .directly:
                operation.belong(to: device)
                operation.start()
            case .database: device.add(operation)
            case .container: device.container.add(operation)
            case .ownQueue:
                operation.belong(to: device)
                OperationQueue().addOperation(operation)
            }
        }
        guard observed.operation?.isFinished == true else { return "it is not finished" }
        let problem = observed.problem()
        let count = observed.events.count
        observed.letGo()
        // Foundation lets go of an operation some moments after its completion block.
        guard await eventually({ operation.value == nil }) else { return "somebody keeps it" }
        if observed.events.count != count { return "there were callbacks after its end" }
        return problem
    }

    private static func answer(
        _ sent: ScriptedTransport.Sent, _ fault: Fault
    ) throws -> TransportResponse {
        switch fault {
        case .none,
            .emptyAnswer where sent.method == "GET":
            return .json(EchoServer.answer(sent))
        case .unreachable: throw TransportError.unreachable("no route")
        case .lost: throw TransportError.connectionLost("cut")
        case .timedOut: throw TransportError.timedOut(.seconds(60))
        case .serverError:
            return .json(#"{"serverErrorCode":"INTERNAL_ERROR","reason":"broken"}"#, status: 500)
        case .throttled:
            return .json(
                #"{"serverErrorCode":"THROTTLED","reason":"slow","retryAfter":30}"#, status: 429)
        case .busy: return TransportResponse(status: 503, body: Array("<html>".utf8))
        case .noJSON: return .json("<html></html>")
        case .cutOff: return .json(String(EchoServer.answer(sent).dropLast(7)))
        case .wrongTypes:
            return .json(#"{"records":5,"zones":{},"subscriptions":"a","syncToken":[]}"#)
        case .wrongCount: return .json(#"{"records":[],"zones":[],"subscriptions":[]}"#)
        case .emptyAnswer: return .json("")
        case .itemError:
            let error = #""serverErrorCode":"ACCESS_DENIED","reason":"no""#
            let items = ["a", "b"].map { name in
                """
                {"recordName":"\(name)","subscriptionID":"\(name)",\
                "zoneID":{"zoneName":"\(name)","ownerRecordName":"_me"},\(error)}
                """
            }.joined(separator: ",")
            return .json(
                """
                {"records":[\(items)],"zones":[\(items)],"subscriptions":[\(items)],\
                "syncToken":"t9","moreComing":false}
                """
            )
        }
    }
}

/// An operation that somebody else keeps, or not.
private struct WeakOperation {
    weak var value: CKOperation?
}

/// A clock on which every wait is over at once.
final class SkippingClock: Clock {
    private let time = Locked(ManualClock.Instant())

    var now: ManualClock.Instant { time.current }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        await Task.yield()
        try Task.checkCancellation()
        time.withLock { $0 = max($0, deadline) }
    }
}
