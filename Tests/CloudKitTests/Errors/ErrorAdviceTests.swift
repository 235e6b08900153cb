// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import CloudKit

@Suite("What errors say of the device, and what to do")
struct ErrorAdviceTests {
    /// The text of what a request of a container fails with.
    private func text(of container: CKContainer) async -> String {
        let error = await #expect(throws: CKError.self) { _ = try await container.userRecordID() }
        return error?.localizedDescription ?? "no error"
    }

    /// A device whose folder has sessions of containers.
    private func device(
        signedInTo containers: [String], variables: [String: String] = [:]
    ) throws -> (DeviceSession, TemporaryFolder) {
        let home = try TemporaryFolder()
        let sessions = containers.map {
            SignedInSession(
                container: $0, environment: "development", server: "http://127.0.0.1:8642",
                apiToken: "api", webAuthToken: "token", user: "anna", userRecordName: "_a")
        }
        try SessionFile(folder: home.url).change { $0 = sessions }
        var environment = variables
        environment["TIDEBELL_HOME"] = home.url.path
        let session = DeviceSession(
            configuration: try .load(environment: environment),
            transport: ScriptedTransport(answering: "{}"))
        return (session, home)
    }

    @Test(
        "a container that nobody signed in to is compared with those somebody is",
        arguments: [
            ([], ""),
            (
                ["iCloud.org.example.feed"],
                "did you mean iCloud.org.example.feed, where a user is signed in? Otherwise "
            ),
            (
                ["com.acme.one", "com.acme.two"],
                "a user is signed in to com.acme.one, com.acme.two; "
            ),
            (
                (1...6).map { "com.acme.\($0)" },
                "a user is signed in to com.acme.1, com.acme.2, com.acme.3, com.acme.4, "
                    + "com.acme.5, …; "
            ),
        ])
    func otherContainers(signedIn: [String], hint: String) async throws {
        let way = "sign in with tidebell login --container iCloud.org.example.fed, or set "
        let (without, home) = try device(signedInTo: signedIn)
        #expect(
            await text(of: CKContainer(identifier: "iCloud.org.example.fed", session: without))
                == "This device has no API token: \(hint)\(way)TIDEBELL_API_TOKEN, or \"apiToken\" in "
                + "device.json of the folder TIDEBELL_HOME names.")
        let (with, other) = try device(
            signedInTo: signedIn, variables: ["TIDEBELL_API_TOKEN": "api"])
        #expect(
            await text(of: CKContainer(identifier: "iCloud.org.example.fed", session: with))
                == "No user is signed in on this device: \(hint)\(way)TIDEBELL_WEB_AUTH_TOKEN, or "
                + "\"webAuthToken\" in device.json of the folder TIDEBELL_HOME names.")
        withExtendedLifetime((home, other)) {}
    }

    @Test("a web token that the server does not know, or not any more, says so")
    func endedSession() async {
        let refusal =
            #"{"serverErrorCode":"AUTHENTICATION_REQUIRED","reason":"request needs authorization"}"#
        let transport = ScriptedTransport { _, _ in .json(refusal, status: 421) }
        #expect(
            await text(of: TestDevice(transport).container)
                == "request needs authorization; this device's web token is unknown to the server or "
                + "has ended: sign in again with tidebell login")
    }

    @Test("a server that does not answer is named, with what it may be")
    func unreachable() async throws {
        let home = try TemporaryFolder()
        let session = DeviceSession(variables: [
            "TIDEBELL_HOME": home.url.path, "TIDEBELL_SERVER": "http://127.0.0.1:1",
            "TIDEBELL_API_TOKEN": "api", "TIDEBELL_WEB_AUTH_TOKEN": "token",
        ])
        #expect(
            await text(of: CKContainer(identifier: "iCloud.notes", session: session))
                == "The server http://127.0.0.1:1 cannot be reached (Connection refused). Is it running, "
                + "and is its address right (TIDEBELL_SERVER, or of tidebell login)?")
    }

    private static let zoneID = CKRecordZone.ID(zoneName: "Notes")
    private static let trip = CKRecordZone.ID(zoneName: "Trip", ownerName: "_ben")

    /// The reasons of a server, what they are about, and what the app reads.
    private static let reasons: [(String, CKError.Subject?, String)] = [
        (
            "Record not found", .record(CKRecord.ID(recordName: "a", zoneID: trip)),
            "Record not found (record 'a' of zone 'Trip' of _ben); it was deleted, or never saved"
        ),
        (
            "Zone 'Trip' does not exist", .zone(trip),
            "Zone 'Trip' does not exist; its owner is '_ben', who may have ended the share"
        ),
        (
            "Zone 'Notes' does not exist", nil,
            "Zone 'Notes' does not exist; save a CKRecordZone first"
        ),
        (
            "client oplock error updating record",
            .record(CKRecord.ID(recordName: "a", zoneID: zoneID)),
            "client oplock error updating record (record 'a' of zone 'Notes'); merge into the "
                + "error's serverRecord and save that"
        ),
        (
            "additionalFields names 4 fields; at most 3 fit a push", .subscription("s"),
            "desiredKeys names 4 fields; at most 3 fit a push"
        ),
        (
            "cannot add additionalFields to this subscription type", nil,
            "cannot add desiredKeys to this subscription type"
        ),
        (
            "BadRequestException: missing required field 'recordChangeTag'", nil,
            "missing required field 'recordChangeTag'"
        ),
        (
            "query: filterBy[1], BEGINS_WITH on 'n': expected a field of type STRING, not INT64",
            nil,
            "query: the predicate's BEGINSWITH on 'n': expected a field of type STRING, not INT64"
        ),
        (
            "query: filterBy[0], EQUALS on 'tags': a STRING_LIST field is compared with LIST_CONTAINS",
            nil,
            "query: the predicate's == on 'tags': a STRING_LIST field is compared with CONTAINS"
        ),
        ("what no rule knows", .subscription("s"), "what no rule knows"),
    ]

    @Test(
        "a server's reason is told in the API's words, with the item and what to do",
        arguments: reasons)
    func explained(reason: String, subject: CKError.Subject?, text: String) {
        #expect(CKError.explained(reason, of: subject) == text)
    }
}
