// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

@Suite struct AccountTests {
    /// What the server answers to `users/caller`, and the status that follows.
    static let answers: [(TransportResponse, String)] = [
        (.json(#"{"userRecordName":"_me"}"#), "1 nil"),
        (.json(#"{"serverErrorCode":"AUTHENTICATION_REQUIRED"}"#, status: 421), "3 nil"),
        (
            .json(#"{"serverErrorCode":"AUTHENTICATION_FAILED","reason":"no"}"#, status: 401),
            "0 notAuthenticated: no"
        ),
        (
            .json(
                #"{"serverErrorCode":"AUTHENTICATION_REQUIRED","ext":{"ckCode":32}}"#, status: 421),
            "2 nil"
        ),
        (
            .json(#"{"serverErrorCode":"BAD_REQUEST","ext":{"ckCode":36}}"#, status: 400),
            "4 nil"
        ),
        (
            .json(#"{"serverErrorCode":"INTERNAL_ERROR","reason":"oh"}"#, status: 500),
            "0 internalError: oh"
        ),
    ]

    @Test("ACCT-1: the account status follows the server", arguments: answers.indices)
    func theStatusFollowsTheServer(row: Int) async {
        let (answer, expected) = Self.answers[row]
        let container = TestDevice(ScriptedTransport { _, _ in answer }).container
        let handled = await withCheckedContinuation { continuation in
            container.accountStatus { status, error in
                continuation.resume(returning: "\(status.rawValue) \(text(error))")
            }
        }
        #expect(handled == expected)
        let thrown = await Result { try await container.accountStatus() }
        switch thrown {
        case .success(let status): #expect("\(status.rawValue) nil" == expected)
        case .failure(let error): #expect("0 \(text(error))" == expected)
        }
    }

    @Test("ACCT-1: without a web token there is no account, and nothing is sent")
    func withoutAWebToken() async throws {
        let transport = ScriptedTransport(answering: "{}")
        let container = TestDevice(transport, webAuthToken: nil).container
        #expect(try await container.accountStatus() == .noAccount)
        #expect(transport.sent.isEmpty)
    }

    @Test("ACCT-1: when the network fails the status is unknown, with the error")
    func theNetworkFails() async {
        let transport = ScriptedTransport { _, _ in throw TransportError.unreachable("no") }
        let container = TestDevice(transport).container
        let result = await Result { try await container.accountStatus() }
        #expect(result.error?.code == .networkUnavailable)
    }

    @Test("ACCT-5: the user's record ID is asked for once")
    func theUserRecordID() async throws {
        let transport = ScriptedTransport(answering: #"{"userRecordName":"_me"}"#)
        let container = TestDevice(transport).container
        let id = CKRecord.ID(recordName: "_me")
        #expect(try await container.userRecordID() == id)
        let handled = await withCheckedContinuation { continuation in
            container.fetchUserRecordID { id, error in
                continuation.resume(returning: "\(id?.recordName ?? "nil") \(text(error))")
            }
        }
        #expect(handled == "_me nil")
        #expect(transport.sent.map(\.endpoint) == ["public users/caller"])
        #expect(transport.sent.map(\.method) == ["GET"])
    }

    @Test("ACCT-3: without a user there is no record ID")
    func withoutAUser() async {
        let container = TestDevice(ScriptedTransport(answering: "{}"), webAuthToken: nil).container
        let result = await Result { try await container.userRecordID() }
        #expect(result.error?.code == .notAuthenticated)
    }

    @Test("ACCT-2: the name of the account notification is CloudKit's")
    func theNotificationsName() {
        #expect(NSNotification.Name.CKAccountChanged.rawValue.isEmpty == false)
        #expect(Notification.Name.CKAccountChanged == NSNotification.Name.CKAccountChanged)
    }
}
