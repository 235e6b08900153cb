// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellScheduling
import TidebellServer
import TidebellWire
import HTTPTypes
import Logging

@Suite("Full disks and readiness")
struct ReadinessTests {
    /// A store that can be read, and written as long as nothing is in the way.
    private final class Store: TidebellCore.Store {
        let identity: UInt64 = 1
        let incarnation = Incarnation.first
        let trouble = Mutex<StoreUnavailable?>(nil)
        let probes = Mutex(0)
        let reads = Mutex(0)
        /// What calls wait for that do not answer; nil where they answer.
        let silence = Mutex<AsyncStream<Void>?>(nil)

        func writeInSteps<Result: Sendable>(
            for caller: AccountID?, about scope: StoreScope?, durability: Durability,
            _ body: @escaping @Sendable (any StoreSteps) throws -> Result
        ) async throws -> Result {
            throw trouble.withLock { $0 } ?? StoreUnavailable(.isLocked, detail: "of no use here")
        }

        func read<Result: Sendable>(
            _ body: @escaping @Sendable (any StoreReader) throws -> Result
        ) async throws -> Result {
            reads.withLock { $0 += 1 }
            try await answer()
            guard let none = Optional<StoredWebhook>.none as? Result else {
                throw CancellationError()
            }
            return none
        }

        func probe() async throws {
            probes.withLock { $0 += 1 }
            try await answer()
        }

        /// Waits as long as the test wants, also in a task that is cancelled.
        private func answer() async throws {
            if let silence = silence.withLock({ $0 }) {
                await Task { for await _ in silence {} }.value
            }
            if let error = trouble.withLock({ $0 }) { throw error }
        }

        func claimOutboxes<Pending: Sendable>(
            _ claim: LeaseClaim,
            reading body: @escaping @Sendable ([OutboxLease], any StoreReader) -> Pending
        ) async throws -> (claimed: ClaimedLeases<DatabaseID>, pending: Pending?) {
            throw CancellationError()
        }

        func returnOutboxes(_ leases: [ReturnedLease<DatabaseID>]) {}
        func claimDeliveries(
            _ claim: LeaseClaim, in queue: DeliveryQueue
        ) async throws -> ClaimedLeases<DeliveryPointer> {
            ClaimedLeases(leases: [], nextVesting: nil)
        }
        func returnDeliveries(_ leases: [ReturnedLease<DeliveryPointer>]) {}
        func accessCommits() -> AsyncStream<Void> { AsyncStream { $0.finish() } }
        func unsettledCommits() -> AsyncStream<Void> { AsyncStream { $0.finish() } }
        func outboxCommits() -> AsyncStream<Void> { AsyncStream { $0.finish() } }
        func close() async throws {}
    }

    private let store = Store()
    private let clock = StepClock(at: TestAPI.start)
    private let log = TestLog(level: .error)

    private func cloud() -> CloudServices {
        let clock = clock
        return CloudServices(
            store: store, secret: .test, time: Time(now: { clock.instant }, clock: clock),
            randomness: .system, logger: log.logger
        )
    }

    private func ready(
        _ cloud: CloudServices, _ path: String = "/ready"
    ) async throws -> (status: Int, text: String) {
        let response = await cloud.respond(.get, path)
        return (response.status, String(decoding: try await response.body.collect(), as: UTF8.self))
    }

    @Test(
        "M3: what is in the way of writes is 503 TRY_AGAIN_LATER on /ready, and not logged again",
        arguments: StoreUnavailable.Cause.allCases
    )
    func causes(cause: StoreUnavailable.Cause) async throws {
        let trouble = StoreUnavailable(cause, detail: "/secret/path")
        store.trouble.withLock { $0 = trouble }
        let (status, text) = try await ready(cloud())
        #expect(status == 503)
        var error = try JSONReader.read(Array(text.utf8), WireError.init(from:))
        error.uuid = nil
        // A database that is away is back after a switchover of seconds.
        let retryAfter = cause == .isUnreachable ? 2.0 : 10
        #expect(error == WireError(.tryAgainLater, trouble.reason, retryAfter: retryAfter))
        #expect(!text.contains("secret"))
        #expect(log.detailedLines.isEmpty)
    }

    @Test("The welcome page says that nothing can be saved, and why, with 503")
    func welcome() async throws {
        let trouble = StoreUnavailable(.diskIsFull, detail: "/secret/path")
        store.trouble.withLock { $0 = trouble }
        let response = await cloud().respond(.get, "/")
        let text = String(decoding: try await response.body.collect(), as: UTF8.self)
        #expect(response.status == 503)
        #expect(response.headers[.retryAfter] == "10")
        let reason = trouble.reason.replacing("'", with: "&#39;")
        #expect(text.contains("It cannot save anything at the moment: \(reason)."))
        #expect(!text.contains("secret") && !text.contains("It is healthy"))
    }

    @Test("/ready writes at most once a second, whoever asks, and reports the present state")
    func probes() async throws {
        let cloud = cloud()
        for _ in 0..<100 {
            let answer = try await ready(cloud)
            #expect(answer.status == 200)
            #expect(answer.text == #"{"status":"ready"}"#)
        }
        #expect(store.probes.withLock { $0 } == 1)
        store.trouble.withLock { $0 = StoreUnavailable(.diskIsFull, detail: "") }
        #expect(try await ready(cloud).status == 200)
        clock.advance(by: .seconds(1))
        #expect(try await ready(cloud).status == 503)
        #expect(try await ready(cloud).status == 503)
        #expect(store.probes.withLock { $0 } == 2)
        store.trouble.withLock { $0 = nil }
        clock.advance(by: .seconds(1))
        #expect(try await ready(cloud).status == 200)
    }

    @Test(
        "/ready, /health and the welcome page answer within two seconds with 503 where the store does not",
        arguments: ["/ready", "/health", "/"]
    )
    func silence(path: String) async throws {
        let (silence, end) = AsyncStream.makeStream(of: Void.self)
        defer { end.finish() }
        store.silence.withLock { $0 = silence }
        let cloud = cloud()
        async let first = ready(cloud, path)
        await clock.waitForSleeper(of: .seconds(2))
        clock.advance(by: .seconds(2))
        for answer in [try await first, try await ready(cloud, path)] {
            #expect(answer.status == 503)
            let reason = answer.text.replacing("&#39;", with: "'")
            #expect(reason.contains("the server's store does not answer"))
        }
        #expect(store.probes.withLock { $0 } + store.reads.withLock { $0 } == 1)
        #expect(log.detailedLines.isEmpty)

        store.silence.withLock { $0 = nil }
        end.finish()
        await eventually {
            clock.advance(by: .seconds(1))
            return (try? await ready(cloud, path).status) == 200
        }
    }

    @Test("A store that is silent again after it failed is answered for with why it failed")
    func silenceAfterFailure() async throws {
        let cloud = cloud()
        let trouble = StoreUnavailable(.isUnreachable, detail: "")
        store.trouble.withLock { $0 = trouble }
        #expect(try await ready(cloud).text.contains(trouble.reason))
        let (silence, end) = AsyncStream.makeStream(of: Void.self)
        defer { end.finish() }
        store.silence.withLock { $0 = silence }
        clock.advance(by: .seconds(1))
        async let late = ready(cloud)
        await clock.waitForSleeper(of: .seconds(2))
        clock.advance(by: .seconds(2))
        #expect(try await late.text.contains(trouble.reason))
    }
}
