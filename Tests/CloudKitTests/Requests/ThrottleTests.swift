// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import CloudKit
import TidebellWire

@Suite("Waits that a server asks for", .hangs)
struct ThrottleTests {
    private static let note = CKRecord.ID(recordName: "n")
    private static let two = CKRecordZone.ID(zoneName: "Two")

    private static func refusal(_ code: String, ck: Int? = nil) -> TransportResponse {
        let ext = ck.map { #","ext":{"ckCode":\#($0)}"# } ?? ""
        return .json(
            #"{"serverErrorCode":"\#(code)","reason":"wait","retryAfter":600\#(ext)}"#, status: 503
        )
    }

    /// A device whose first request of all is refused, the others answered.
    private static func device(
        _ refusal: TransportResponse, _ clock: any Clock<Duration>
    ) -> (TestDevice, ScriptedTransport) {
        let transport = ScriptedTransport { sent, number in
            number == 0 ? refusal : .json(EchoServer.answer(sent))
        }
        return (TestDevice(transport, clock: clock), transport)
    }

    private static func save(
        in zone: CKRecordZone.ID = Sample.zoneID, of database: CKDatabase
    ) async -> CKError? {
        await Result { try await database.save(Sample.record("n", zone: zone)) }.error
    }

    @Test(
        "ERR-52, ERR-16: until a throttle is over, operations of its kind fail with requestRateLimited and nothing is sent",
        arguments: ["THROTTLED", "TRY_AGAIN_LATER"]
    )
    func isRemembered(code: String) async {
        let clock = ManualClock()
        let (device, transport) = Self.device(Self.refusal(code), clock)
        let first = await Self.save(of: device.database)
        #expect(first?.code == (code == "THROTTLED" ? .requestRateLimited : .serviceUnavailable))
        #expect(first?.retryAfterSeconds == 600)

        clock.advance(by: .seconds(99.5))
        let second = await Self.save(of: device.database)
        #expect(
            text(second)
                == "requestRateLimited: The server asked to wait: requests of this kind "
                + "(records/modify) to the private database of 'iCloud.notes' may be sent again "
                + "in 500.5 seconds, others now."
        )
        #expect(second?.retryAfterSeconds == 500.5)
        #expect(transport.sent.count == 1)

        clock.advance(by: .seconds(500.5))
        #expect(await Self.save(of: device.database) == nil)
        #expect(transport.sent.count == 2)
    }

    @Test("ERR-52: what is of another kind, database or container may be sent meanwhile")
    func othersMayBeSent() async {
        let clock = ManualClock()
        let (device, transport) = Self.device(Self.refusal("THROTTLED"), clock)
        _ = await Self.save(of: device.database)
        let fetch = await Result { try await device.database.record(for: Self.note) }
        #expect(text(fetch) == "success")
        #expect(await Self.save(of: device.container.publicCloudDatabase) == nil)
        let other = CKContainer(identifier: "iCloud.other", session: device.session)
        #expect(await Self.save(of: other.privateCloudDatabase) == nil)
        #expect(await Self.save(of: device.database)?.code == .requestRateLimited)
        #expect(transport.sent.count == 4)
    }

    @Test("ERR-52: what waits for the network waits until the throttle is over, then is sent")
    func isWaitedOut() async {
        let clock = ManualClock()
        let (device, transport) = Self.device(Self.refusal("THROTTLED"), clock)
        _ = await Self.save(of: device.database)
        clock.advance(by: .seconds(400))
        let operation = CKModifyRecordsOperation(recordsToSave: [Sample.record("n")])
        operation.database = device.database
        operation.qualityOfService = .utility
        let log = CallbackLog()
        operation.modifyRecordsResultBlock = { log.add(text($0)) }
        await operation.finished {
            operation.start()
            Task {
                await clock.untilSleeping()
                clock.advance(by: .seconds(200))
            }
        }
        #expect(log.lines == ["success"])
        #expect(clock.slept == [.seconds(200)])
        #expect(transport.sent.count == 2)
    }

    @Test("ERR-52, ERR-32: while a zone is busy other zones are not")
    func busyZone() async {
        let clock = ManualClock()
        let (device, transport) = Self.device(Self.refusal("TRY_AGAIN_LATER", ck: 23), clock)
        #expect(await Self.save(of: device.database)?.code == .zoneBusy)
        #expect(await Self.save(in: Self.two, of: device.database) == nil)
        #expect(await Self.save(of: device.database)?.code == .requestRateLimited)
        #expect(transport.sent.count == 2)
        clock.advance(by: .seconds(600))
        #expect(await Self.save(of: device.database) == nil)
    }

    @Test("ERR-52: a refusal without a wait is not remembered")
    func withoutAWait() async {
        let refusal = TransportResponse(status: 503, body: Array("<html>".utf8))
        let (device, transport) = Self.device(refusal, ManualClock())
        #expect(await Self.save(of: device.database)?.code == .serviceUnavailable)
        #expect(await Self.save(of: device.database) == nil)
        #expect(transport.sent.count == 2)
    }

    // MARK: - What is remembered

    private static func subject(_ endpoint: String, user: String = "a") -> Throttles.Subject {
        Throttles.Subject(
            container: "c",
            account: DeviceAccount(server: "s", user: user, isRecordName: true),
            scope: .private, endpoint: endpoint
        )
    }

    private static func throttled(_ seconds: Double) -> CKError {
        CKError(.requestRateLimited, userInfo: [CKErrorRetryAfterKey: seconds])
    }

    @Test("ERR-52: the longer of two waits counts, for a week at most, and for one user only")
    func longerWaits() {
        let clock = ManualClock()
        var throttles = Throttles()
        let subject = Self.subject("records/query")
        throttles.note(Self.throttled(20), to: subject, on: clock)
        throttles.note(Self.throttled(5), to: subject, on: clock)
        #expect(throttles.remaining(for: subject) == .seconds(20))
        throttles.note(Self.throttled(1e15), to: subject, on: clock)
        #expect(throttles.remaining(for: subject) == Throttles.longest)
        #expect(throttles.remaining(for: Self.subject("records/query", user: "b")) == nil)
        clock.advance(by: Throttles.longest)
        #expect(throttles.remaining(for: subject) == nil)
    }

    @Test("ERR-52: of very many waits the longest are remembered")
    func manyWaits() {
        let clock = ManualClock()
        var throttles = Throttles()
        for number in 1...Throttles.maximumCount + 1 {
            throttles.note(
                Self.throttled(Double(number)), to: Self.subject("e\(number)"), on: clock)
        }
        #expect(throttles.count == Throttles.maximumCount)
        #expect(throttles.remaining(for: Self.subject("e1")) == nil)
        #expect(throttles.remaining(for: Self.subject("e2")) == .seconds(2))
        clock.advance(by: .seconds(900))
        throttles.note(Self.throttled(9), to: Self.subject("new"), on: clock)
        #expect(throttles.count == Throttles.maximumCount + 1 - 900 + 1)
    }
}
