// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import CloudKit

@Suite("Requests that are sent again", .hangs)
struct RetryTests {
    private static let cut = "networkFailure: The connection to the server was lost: cut"
    private static let saved = TransportResponse.json(Answer.records(Answer.record("n")))
    private static let busy = TransportResponse.json(
        #"{"serverErrorCode":"TRY_AGAIN_LATER","reason":"busy","retryAfter":600}"#, status: 503
    )

    /// A save of one record with a log of its result.
    private static func save(
        on device: TestDevice, _ set: (CKModifyRecordsOperation) -> Void = { _ in }
    ) -> (CKModifyRecordsOperation, CallbackLog) {
        let log = CallbackLog()
        let operation = CKModifyRecordsOperation(recordsToSave: [Sample.record("n")])
        operation.database = device.database
        operation.modifyRecordsResultBlock = { log.add(text($0)) }
        set(operation)
        return (operation, log)
    }

    /// Runs the operation to its end on a clock that moves as far as it is waited for;
    /// returns the waits.
    private static func run(
        _ operation: CKOperation, _ clock: ManualClock
    ) async -> [Duration] {
        let mover = Task {
            while !Task.isCancelled {
                await clock.untilSleeping()
                clock.advance(by: clock.slept.last ?? .zero)
                await Task.yield()
            }
        }
        await operation.finished { operation.start() }
        mover.cancel()
        let slept = clock.slept
        // Lets the mover, which waits for a sleeper, end.
        Task { try? await clock.sleep(for: .seconds(1)) }
        return slept
    }

    @Test("A write whose connection was lost is sent again, under the same request ID")
    func aWriteIsSentAgain() async {
        let clock = ManualClock()
        let transport = ScriptedTransport { _, number in
            if number == 0 { throw TransportError.connectionLost("cut") }
            return Self.saved
        }
        let (operation, log) = Self.save(on: TestDevice(transport, clock: clock))
        let slept = await Self.run(operation, clock)
        #expect(log.lines == ["success"])
        #expect(slept == [.milliseconds(500)])
        let id = "\(operation.operationID)/records/modify/1/1"
        #expect(transport.sent.map { $0.headers["X-Tidebell-Request-ID"] } == [id, id])
        #expect(transport.sent[0].body == transport.sent[1].body)
    }

    @Test("It is sent three times at most, and then reported")
    func threeAttempts() async {
        let clock = ManualClock()
        let transport = ScriptedTransport { _, _ in throw TransportError.connectionLost("cut") }
        let (operation, log) = Self.save(on: TestDevice(transport, clock: clock))
        #expect(await Self.run(operation, clock) == [.milliseconds(500), .seconds(1)])
        #expect(log.lines == [Self.cut])
        #expect(transport.sent.count == RequestRetry.maximumAttempts)
    }

    @Test("Each write of an operation has an ID of its own; reads have none")
    func requestIDs() async {
        let transport = ScriptedTransport { sent, number in
            .json(Answer.records(Answer.record(number == 0 ? "a" : "b")))
        }
        let device = TestDevice(transport)
        let (operation, _) = Self.save(on: device) {
            $0.recordsToSave = [
                Sample.record("a"), Sample.record("b", zone: CKRecordZone.ID(zoneName: "Two")),
            ]
        }
        await operation.finished { operation.start() }
        let fetch = CKFetchRecordsOperation(recordIDs: [Sample.record("a").recordID])
        await device.database.runToEnd(fetch)
        #expect(
            transport.sent.map { $0.headers["X-Tidebell-Request-ID"] } == [
                "\(operation.operationID)/records/modify/1/1",
                "\(operation.operationID)/records/modify/2/1", nil,
            ]
        )
    }

    @Test(
        "OP-5, ERR-6: up to .default a busy server's answer to a write is reported at once, with its wait",
        arguments: [QualityOfService.userInteractive, .userInitiated, .default]
    )
    func busyIsReported(quality: QualityOfService) async {
        let transport = ScriptedTransport { _, _ in Self.busy }
        let (operation, _) = Self.save(on: TestDevice(transport, clock: ManualClock())) {
            $0.configuration.qualityOfService = quality
        }
        let outcome = Locked<CKError?>(nil)
        operation.modifyRecordsResultBlock = { result in outcome.current = result.error }
        await operation.finished { operation.start() }
        #expect(outcome.current?.code == .serviceUnavailable)
        #expect(outcome.current?.retryAfterSeconds == 600)
        #expect(transport.sent.count == 1)
    }

    @Test(
        "OP-5: utility and background wait for the network, and never less than the server asks",
        arguments: [QualityOfService.utility, .background]
    )
    func waitsForTheNetwork(quality: QualityOfService) async {
        let clock = ManualClock()
        let transport = ScriptedTransport { _, number in
            switch number {
            case 0: throw TransportError.unreachable("no route")
            case 1: throw TransportError.timedOut(.seconds(60))
            case 2: throw TransportError.connectionLost("cut")
            case 3: return Self.busy
            default: return Self.saved
            }
        }
        let (operation, log) = Self.save(on: TestDevice(transport, clock: clock)) {
            $0.qualityOfService = quality
        }
        #expect(operation.configuration.qualityOfService == quality)
        let slept = await Self.run(operation, clock)
        #expect(log.lines == ["success"])
        #expect(slept == [.milliseconds(500), .seconds(1), .seconds(2), .seconds(600)])
        #expect(Set(transport.sent.map { $0.headers["X-Tidebell-Request-ID"] }).count == 1)
    }

    @Test("What would fail alike is not sent again, whatever the quality of service")
    func finalErrors() async {
        let transport = ScriptedTransport { _, _ in
            .json(#"{"serverErrorCode":"BAD_REQUEST","reason":"no"}"#, status: 400)
        }
        let (operation, _) = Self.save(on: TestDevice(transport, clock: ManualClock())) {
            $0.qualityOfService = .background
        }
        await operation.finished { operation.start() }
        #expect(transport.sent.count == 1)
    }

    @Test("LIMIT-14, OP-5: the operation's time bounds its requests and its waiting")
    func resourceTimeout() async {
        let clock = ManualClock()
        let transport = ScriptedTransport { _, _ in
            clock.advance(by: .seconds(4))
            throw TransportError.unreachable("no route")
        }
        let (operation, log) = Self.save(on: TestDevice(transport, clock: clock)) {
            $0.qualityOfService = .utility
            $0.configuration.timeoutIntervalForResource = 10
        }
        let slept = await Self.run(operation, clock)
        // 4 s, half a second's wait, 4 s: a second's wait still fits, then half a second
        // is left for a request, and no time for waiting.
        #expect(slept == [.milliseconds(500), .seconds(1)])
        #expect(transport.sent.map(\.timeout) == [10, 5.5, 0.5].map { .seconds($0) })
        #expect(log.lines.first?.hasPrefix("networkUnavailable: ") == true)
    }

    @Test(
        "OP-5: that it waits for the network is said once, with what is wrong; nobody else says it")
    func waitIsSaid() async {
        let clock = ManualClock()
        let transport = ScriptedTransport { _, number in
            if number < 3 || number > 3 { throw TransportError.unreachable("no route") }
            return Self.saved
        }
        let said = CallbackLog()
        let device = TestDevice(transport, clock: clock, notice: { said.add($0) })
        let (patient, log) = Self.save(on: device) { $0.qualityOfService = .utility }
        _ = await Self.run(patient, clock)
        #expect(log.lines == ["success"])
        #expect(
            said.lines == [
                "CloudKit: file:/// does not answer: The server cannot be reached (no route). Is it "
                    + "running, and is its address right (TIDEBELL_SERVER, or of tidebell login)? An "
                    + "operation (records/modify) waits for the network and is tried again, since its "
                    + "quality of service is utility or background, or it is long-lived. "
                    + "TIDEBELL_QUIET=1 silences this."
            ])
        let (hasty, _) = Self.save(on: device)
        _ = await Self.run(hasty, clock)
        #expect(said.lines.count == 1)
        let other = TestDevice(transport, clock: clock, notice: { said.add("other: \($0)") })
        let (impatient, _) = Self.save(on: other)
        _ = await Self.run(impatient, clock)
        #expect(said.lines.count == 1)
    }

    @Test("The waits grow to five minutes and no further")
    func longestBackOff() {
        let retry = RequestRetry(isRead: false, isRepeatable: true, waitsForNetwork: true)
        let failure = RequestFailure(TransportError.unreachable("no route"), container: nil)
        #expect(retry.delay(after: 10, failure, jitter: 0) == .seconds(256))
        #expect(retry.delay(after: 11, failure, jitter: 0) == .seconds(300))
        #expect(retry.delay(after: 5000, failure, jitter: 0) == .seconds(300))
    }

    @Test("Waits are longer by chance: by half, by a minute at most, and never shorter")
    func spread() {
        let retry = RequestRetry(isRead: false, isRepeatable: true, waitsForNetwork: true)
        let lost = RequestFailure(TransportError.connectionLost("cut"), container: nil)
        let busy = RequestFailure(
            CKError(.serviceUnavailable, userInfo: [CKErrorRetryAfterKey: 600]))
        for (failure, least, most) in [(lost, 0.5, 0.75), (busy, 600, 660)] {
            func delay(_ jitter: Double) -> Double? {
                retry.delay(after: 1, failure, jitter: jitter)?.seconds
            }
            #expect(delay(0) == least)
            #expect(delay(1) == most)
            #expect(delay(0.5) == (least + most) / 2)
            #expect(delay(-7) == least)
            #expect(delay(7) == most)
        }
    }

    private static func save(
        losing count: Int, then failure: TransportError, _ clock: ManualClock
    ) async -> (CallbackLog, ScriptedTransport) {
        let transport = ScriptedTransport { _, number in
            if number == 0 { throw failure }
            if number < count { throw TransportError.unreachable("no route") }
            return Self.saved
        }
        let device = TestDevice(
            transport, clock: clock,
            now: { Instant(Date(timeIntervalSinceReferenceDate: clock.now.offset.seconds)) }
        )
        let (operation, log) = save(on: device) { $0.qualityOfService = .utility }
        _ = await run(operation, clock)
        return (log, transport)
    }

    @Test(
        "ERR-43: a write that may have been done is not sent again when the server may have forgotten it",
        arguments: [TransportError.connectionLost("cut"), .timedOut(.seconds(60))]
    )
    func forgottenWrites(failure: TransportError) async {
        let clock = ManualClock()
        let (log, transport) = await Self.save(losing: .max, then: failure, clock)
        #expect(log.lines.count == 1)
        #expect(log.lines.first?.hasPrefix("serverResponseLost: ") == true)
        #expect(clock.now.offset >= RequestRetry.longestRepetition)
        #expect(clock.now.offset < RequestRetry.longestRepetition + RequestRetry.backoff.longest)
        #expect(transport.sent.count > 200)
    }

    @Test("ERR-43: a write that never arrived is sent for a week")
    func writesThatNeverArrived() async {
        let clock = ManualClock()
        let (log, _) = await Self.save(losing: 400, then: .unreachable("no route"), clock)
        #expect(log.lines == ["success"])
        #expect(clock.now.offset > RequestRetry.longestRepetition)
    }

    @Test("Each wait is drawn anew, and an operation waits as it was drawn")
    func waitsAreDrawn() async {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        let random = Locked(SeededGenerator(seed: seed))
        let draw: @Sendable () -> Double = {
            random.withLock { Double.random(in: 0...1, using: &$0) }
        }
        let clock = ManualClock()
        let transport = ScriptedTransport { _, _ in throw TransportError.connectionLost("cut") }
        let (operation, _) = Self.save(on: TestDevice(transport, clock: clock, jitter: draw))
        let slept = await Self.run(operation, clock)
        random.current = SeededGenerator(seed: seed)
        #expect(slept.count == 2)
        for (wait, least) in zip(slept, [Duration.milliseconds(500), .seconds(1)]) {
            #expect(wait == least + least * 0.5 * draw(), "seed \(seed)")
        }
    }

    @Test("OP-5: defaults by quality of service")
    func defaultsByQuality() {
        for (quality, waits, week) in [
            (QualityOfService.userInteractive, false, false), (.userInitiated, false, false),
            (.default, false, true), (.utility, true, true), (.background, true, true),
        ] {
            let operation = CKOperation()
            operation.qualityOfService = quality
            let settings = operation.effectiveConfiguration
            #expect(settings.waitsForNetwork == waits)
            #expect(settings.timeoutIntervalForResource == (week ? .seconds(604_800) : nil))
            #expect(settings.timeoutIntervalForRequest == .seconds(60))
        }
        let longLived = CKOperation()
        longLived.qualityOfService = .userInitiated
        longLived.configuration.isLongLived = true
        #expect(longLived.effectiveConfiguration.waitsForNetwork)
        #expect(
            longLived.effectiveConfiguration.timeoutIntervalForResource == .seconds(604_800))
        let operation = CKOperation()
        operation.qualityOfService = .userInitiated
        operation.configuration.timeoutIntervalForResource = 30
        operation.configuration.timeoutIntervalForRequest = 0
        #expect(operation.effectiveConfiguration.timeoutIntervalForResource == .seconds(30))
        #expect(operation.effectiveConfiguration.timeoutIntervalForRequest == .seconds(60))
    }

    @Test("OP-10: ID, name and quantity of the group are sent")
    func groupHeaders() async {
        let transport = ScriptedTransport { _, _ in Self.saved }
        let group = CKOperationGroup()
        group.name = "first sync\n"
        group.quantity = 12
        let (operation, _) = Self.save(on: TestDevice(transport)) { $0.group = group }
        await operation.finished { operation.start() }
        let headers = transport.sent.first?.headers ?? [:]
        #expect(headers["X-Tidebell-Operation-Group-ID"] == group.operationGroupID)
        #expect(headers["X-Tidebell-Operation-Group-Name"] == "first%20sync%0A")
        #expect(headers["X-Tidebell-Operation-Group-Quantity"] == "12")
    }
}
