// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit
@testable import TidebellDevice

@Suite struct DeviceLoginTests {
    private let home: TemporaryFolder
    private let transport: ScriptedTransport
    private let login: DeviceLogin

    init() throws {
        home = try TemporaryFolder()
        let transport = ScriptedTransport { sent, number in
            guard sent.path.hasSuffix("signIn") else { return .json("{}") }
            let user = sent.body.contains("ben") ? "ben" : "anna"
            return .json(
                #"{"webAuthToken":"t\#(number)","userRecordName":"_\#(user)","user":"\#(user)"}"#
            )
        }
        self.transport = transport
        login = try DeviceLogin(
            environment: ["TIDEBELL_HOME": home.url.path], transport: { _ in transport }
        )
    }

    private func signIn(_ user: String, apiToken: String? = nil) async throws {
        _ = try await login.signIn(
            to: "iCloud.notes", apiToken: apiToken,
            with: .password(user: user, password: "secret")
        )
    }

    @Test("Signing in again ends the token before, and keeps the user's pushes on the device")
    func again() async throws {
        try await signIn("anna", apiToken: "api")
        // The API token is known by now.
        try await signIn("anna")
        #expect(try login.sessions().map(\.webAuthToken) == ["t1"])
        let end = try #require(transport.sent.last)
        #expect(end.path.hasSuffix("account/signOut"))
        #expect(end.query["ckWebAuthToken"] == "t0")
        #expect(end.query["clientId"] != transport.sent.first?.query["clientId"])
        #expect(transport.sent.allSatisfy { $0.query["ckAPIToken"] == "api" })
    }

    @Test("SUB-51: switching users ends the pushes of the first on the device")
    func switching() async throws {
        try await signIn("anna", apiToken: "api")
        try await signIn("ben")
        #expect(try login.sessions().map(\.user) == ["ben"])
        let end = try #require(transport.sent.last)
        #expect(end.query["ckWebAuthToken"] == "t0")
        #expect(end.query["clientId"] == transport.sent.first?.query["clientId"])
    }

    @Test("Sessions are one for each container and environment; signing out ends the wanted ones")
    func severalContainers() async throws {
        try await signIn("anna", apiToken: "api")
        for (container, environment) in [("iCloud.notes", "production"), ("iCloud.chess", nil)] {
            _ = try await login.signIn(
                to: container, environment: environment, with: .password(user: "ben", password: "x")
            )
        }
        #expect(try login.sessions().map(\.user) == ["anna", "ben", "ben"])
        let ended = try await login.signOut { $0.environment == "development" }
        #expect(ended.map(\.session.container) == ["iCloud.notes", "iCloud.chess"])
        #expect(ended.allSatisfy { $0.failure == nil })
        #expect(try login.sessions().map(\.environment) == ["production"])
    }

    @Test("A token of a disabled account is not reported as unknown: the account is disabled")
    func disabled() async throws {
        let reason = "the account was disabled by the operator of the server"
        let transport = ScriptedTransport { _, _ in
            .json(
                #"{"serverErrorCode":"AUTHENTICATION_REQUIRED","reason":"\#(reason)","ext":{"ckCode":32}}"#,
                status: 421
            )
        }
        let login = try DeviceLogin(
            environment: ["TIDEBELL_HOME": home.url.path], transport: { _ in transport }
        )
        let error = await #expect(throws: DeviceError.self) {
            try await login.signIn(to: "iCloud.notes", apiToken: "api", with: .webToken("t"))
        }
        #expect(error.map(CKError.Code.init) == .managedAccountRestricted)
        #expect(error?.reason == reason)
    }
}
