// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellServer
import TidebellWire
import HTTPTypes
import Logging

@Suite("Failures")
struct FailureTests {
    private struct DiskFailure: Error {
        let detail = "sector 7 of /secret/path"
    }

    private func respond(
        _ error: any Error & Sendable, log: TestLog = TestLog(level: .error),
        headers: [String: String] = [:], _ search: DamageSearch = .check
    ) async throws -> TestAPI.Answer {
        let cloud = CloudServices(
            store: FailingStore(error: error, damageSearch: search), secret: .test,
            time: .system, randomness: .system, logger: log.logger
        )
        let response = await cloud.respond(
            .get, "/database/1/c/development/private/zones/list?ckAPIToken=secret",
            headers: headers
        )
        return TestAPI.Answer(
            status: response.status,
            text: String(decoding: try await response.body.collect(), as: UTF8.self),
            headers: response.headers
        )
    }

    @Test("What we broke is INTERNAL_ERROR without a word about it, logged once with the uuid")
    func internalError() async throws {
        let log = TestLog(level: .error)
        let answer = try await respond(DiskFailure(), log: log)
        #expect(answer.status == 500)
        #expect(
            answer.error
                == WireError(
                    .internalError, "the server failed; its log knows the request's uuid"
                )
        )
        let line = try #require(log.detailedLines.first)
        #expect(log.detailedLines.count == 1)
        #expect(line.contains("sector 7"))
        #expect(line.contains("requestID=\(try #require(answer.uuid))"))
        #expect(line.contains("endpoint=/database/1/c/development/private/zones/list"))
        #expect(!line.contains("ckAPIToken"))
    }

    @Test("A server that is too busy states when to come back, in body and header (1.4)")
    func busy() async throws {
        let error = WireError(.tryAgainLater, "too many requests wait", retryAfter: 2.5)
        let answer = try await respond(error)
        #expect(answer.status == 503)
        #expect(answer.error == error)
        #expect(answer[header: "Retry-After"] == "3")
    }

    @Test("M3: a full disk is answered with when to come back, and is not logged by each request")
    func fullDisk() async throws {
        let log = TestLog(level: .error)
        let full = StoreUnavailable(.diskIsFull, detail: "sector 7 of /secret/path")
        let answer = try await respond(full, log: log)
        #expect(answer.status == 503)
        #expect(
            answer.error
                == WireError(
                    .tryAgainLater,
                    "the server's disk is full; nothing was stored, try again later",
                    retryAfter: 10
                )
        )
        #expect(answer[header: "Retry-After"] == "10")
        #expect(log.detailedLines.isEmpty)
    }

    @Test("A database that cannot be reached may be tried again after two seconds")
    func unreachable() async throws {
        let answer = try await respond(StoreUnavailable(.isUnreachable, detail: "/secret/path"))
        #expect(answer.status == 503)
        #expect(
            answer.error
                == WireError(
                    .tryAgainLater, "the server's database cannot be reached; try again later",
                    retryAfter: 2))
        #expect(answer[header: "Retry-After"] == "2")
    }

    @Test(
        "Damage of the store is answered, and logged, with what finds it on its engine",
        arguments: [
            (DamageSearch.check, "with 'tidebell check'", "run 'tidebell check'"),
            (
                DamageSearch.toolsOfPostgreSQL, "in the server's log",
                "run 'pg_amcheck' on its database"
            ),
        ])
    func damage(search: DamageSearch, answered: String, logged: String) async throws {
        let log = TestLog(level: .error)
        let answer = try await respond(StoreDamaged(detail: "page 7"), log: log, search)
        #expect(answer.status == 500)
        #expect(answer.error?.reason.contains("its operator finds where \(answered), and") == true)
        #expect(
            log.detailedLines == [
                "the database is damaged; \(logged) " + #"["error=page 7"]"#
            ])
    }

    @Test("Every code has its HTTP status (3.3)", arguments: ServerErrorCode.allCases)
    func statuses(code: ServerErrorCode) async throws {
        let answer = try await respond(WireError(code, "why"))
        #expect(answer.status == Self.statuses[code])
        #expect(answer.error == WireError(code, "why"))
    }

    private static let statuses: [ServerErrorCode: Int] = [
        .accessDenied: 403, .atomicError: 400, .authenticationFailed: 401,
        .authenticationRequired: 421, .badRequest: 400, .conflict: 409, .exists: 409,
        .internalError: 500, .notFound: 404, .quotaExceeded: 413, .throttled: 429,
        .tryAgainLater: 503, .uniqueFieldError: 409, .validatingReferenceError: 412,
        .zoneNotFound: 404,
    ]

    @Test("A caller that went away is not a failure to log")
    func cancelled() async throws {
        let log = TestLog(level: .error)
        _ = try await respond(CancellationError(), log: log)
        #expect(log.detailedLines.isEmpty)
    }
}

/// A store whose every call fails with the same error.
struct FailingStore: Store {
    var error: any Error & Sendable
    let identity: UInt64 = 1
    let incarnation = Incarnation.first
    var damageSearch = DamageSearch.check

    func writeInSteps<Result: Sendable>(
        for caller: AccountID?, about scope: StoreScope?, durability: Durability,
        _ body: @escaping @Sendable (any StoreSteps) throws -> Result
    ) async throws -> Result { throw error }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result { throw error }

    func claimOutboxes<Pending: Sendable>(
        _ claim: LeaseClaim,
        reading body: @escaping @Sendable ([OutboxLease], any StoreReader) -> Pending
    ) async throws -> (claimed: ClaimedLeases<DatabaseID>, pending: Pending?) {
        throw error
    }
    func returnOutboxes(_ leases: [ReturnedLease<DatabaseID>]) async throws { throw error }
    func claimDeliveries(
        _ claim: LeaseClaim, in queue: DeliveryQueue
    ) async throws -> ClaimedLeases<DeliveryPointer> { throw error }
    func returnDeliveries(_ leases: [ReturnedLease<DeliveryPointer>]) async throws { throw error }
    func accessCommits() -> AsyncStream<Void> { AsyncStream { _ in } }
    func unsettledCommits() -> AsyncStream<Void> { AsyncStream { _ in } }
    func outboxCommits() -> AsyncStream<Void> { AsyncStream { $0.finish() } }
    func close() async throws {}
}
