// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import CloudKit

@Suite(.hangs) struct RequestTests {
    @Test("OP-10: a request names device, tokens, environment and operation")
    func aRequestNamesDeviceAndTokens() async throws {
        let transport = ScriptedTransport(answering: Answer.zones(Answer.zone("Notes")))
        let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        operation.group = CKOperationGroup()
        await TestDevice(transport).database.runToEnd(operation)
        let sent = try #require(transport.sent.first)
        #expect(sent.method == "GET")
        #expect(sent.path == "/database/1/iCloud.notes/development/private/zones/list")
        #expect(
            sent.query == [
                "ckAPIToken": "api-token", "ckWebAuthToken": "web+token/1=",
                "clientId": "device-1",
            ]
        )
        #expect(
            sent.headers
                == [
                    "X-Tidebell-Extensions": "1",
                    "X-Tidebell-Operation-ID": operation.operationID,
                    "X-Tidebell-Operation-Group-ID": operation.group?.operationGroupID,
                ].compactMapValues { $0 }
        )
    }

    @Test("Tokens are percent-encoded but for RFC 3986's unreserved characters")
    func tokensArePercentEncoded() {
        #expect(PercentEncoding.encoded("aZ09-._~") == "aZ09-._~")
        #expect(PercentEncoding.encoded("a+/= &é\n") == "a%2B%2F%3D%20%26%C3%A9%0A")
    }

    @Test("OP-6: the request's timeout is the configuration's, 60 seconds by default")
    func theTimeoutIsTheConfigurations() async throws {
        let transport = ScriptedTransport(answering: Answer.zones())
        let device = TestDevice(transport)
        _ = try await device.database.allRecordZones()
        let configuration = CKOperation.Configuration()
        configuration.timeoutIntervalForRequest = 2.5
        try await device.database.configuredWith(configuration: configuration) { database in
            _ = try await database.allRecordZones()
        }
        #expect(transport.sent.map(\.timeout) == [.seconds(60), .milliseconds(2500)])
    }

    @Test(
        "ACCT-3: without a web token only reads of public records are sent",
        arguments: CKDatabase.Scope.all
    )
    func withoutAWebTokenOnlyPublicReadsAreSent(scope: CKDatabase.Scope) async throws {
        let transport = ScriptedTransport(
            answering: Answer.records(Answer.record("n", zone: "_defaultZone"))
        )
        let database = TestDevice(transport, webAuthToken: nil).container.database(with: scope)
        let read = await Result { try await database.record(for: CKRecord.ID(recordName: "n")) }
        let write = await Result { try await database.save(CKRecord(recordType: "Note")) }
        let signIn =
            "notAuthenticated: No user is signed in on this device: sign in with tidebell "
            + "login --container iCloud.notes, or set TIDEBELL_WEB_AUTH_TOKEN, or "
            + "\"webAuthToken\" in device.json of the folder "
            + "TIDEBELL_HOME names."
        #expect(text(read) == (scope == .public ? "success" : signIn))
        #expect(text(write) == signIn)
        #expect(
            transport.sent.map(\.endpoint) == (scope == .public ? ["public records/lookup"] : []))
        #expect(transport.sent.allSatisfy { $0.query["ckWebAuthToken"] == nil })
    }

    @Test("A container identifier with other characters is refused before anything is sent")
    func anOddContainerIdentifierIsRefused() async {
        let transport = ScriptedTransport(answering: Answer.zones())
        let container = CKContainer(
            identifier: "iCloud.a/b", session: TestDevice(transport).session)
        let result = await Result { try await container.privateCloudDatabase.allRecordZones() }
        #expect(
            text(result) == "badContainer: \"iCloud.a/b\" is not a container identifier: letters, "
                + "digits, dots and hyphens are allowed."
        )
        #expect(transport.sent.isEmpty)
    }

    @Test("A read that failed for a moment is sent again, with growing waits, three times")
    func aReadIsSentAgain() async {
        let clock = ManualClock()
        let transport = ScriptedTransport { _, _ in throw TransportError.connectionLost("cut") }
        let database = TestDevice(transport, clock: clock).database
        async let outcome = Result { try await database.allRecordZones() }
        for _ in 1...2 {
            await clock.untilSleeping()
            clock.advance(by: .seconds(1))
        }
        #expect(
            text(await outcome) == "networkFailure: The connection to the server was lost: cut")
        #expect(transport.sent.count == RequestRetry.maximumAttempts)
        #expect(clock.slept == [.milliseconds(500), .seconds(1)])
    }

    @Test("ERR-6: a read waits as long as the server asks, but not longer than 10 seconds")
    func aReadHonoursRetryAfter() async {
        let clock = ManualClock()
        let transport = ScriptedTransport { _, number in
            let seconds = [3, 11][number]
            return .json(
                #"{"serverErrorCode":"TRY_AGAIN_LATER","reason":"busy","retryAfter":\#(seconds)}"#,
                status: 503
            )
        }
        let database = TestDevice(transport, clock: clock).database
        async let outcome = Result { try await database.allRecordZones() }
        await clock.untilSleeping()
        clock.advance(by: .seconds(3))
        let result = await outcome
        #expect(text(result) == "serviceUnavailable: busy")
        #expect(result.error?.retryAfterSeconds == 11)
        #expect(clock.slept == [.seconds(3)])
    }

    @Test("OP-8: a read that waits to be sent again can be cancelled")
    func awaitingRetryCanBeCancelled() async {
        let clock = ManualClock()
        let transport = ScriptedTransport { _, _ in throw TransportError.connectionLost("cut") }
        let database = TestDevice(transport, clock: clock).database
        let task = Task { await Result { try await database.allRecordZones() } }
        await clock.untilSleeping()
        task.cancel()
        #expect(text(await task.value) == "operationCancelled: The operation was cancelled.")
        #expect(transport.sent.count == 1)
    }
}

extension CKDatabase.Scope {
    static let all: [CKDatabase.Scope] = [.public, .private, .shared]
}

extension Result where Failure == any Error {
    /// The outcome of an async call.
    init(_ body: @Sendable () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }

    /// The error, which is always a `CKError`.
    var error: CKError? {
        if case .failure(let error) = self { return error as? CKError }
        return nil
    }
}
