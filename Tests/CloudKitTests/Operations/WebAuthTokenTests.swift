// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

@Suite struct WebAuthTokenTests {
    private func fetch(
        _ operation: CKFetchWebAuthTokenOperation,
        _ transport: ScriptedTransport,
        webAuthToken: String? = "web"
    ) async -> [String] {
        let log = CallbackLog()
        operation.fetchWebAuthTokenResultBlock = { result in
            log.add((try? result.get()) ?? text(result))
        }
        await TestDevice(transport, webAuthToken: webAuthToken).database.runToEnd(operation)
        return log.lines
    }

    @Test("ACCT-10: an API token is exchanged for a web token of the user")
    func exchange() async {
        let transport = ScriptedTransport(answering: #"{"webAuthToken":"fetched"}"#)
        let operation = CKFetchWebAuthTokenOperation(apiToken: "api-of-a-page")
        #expect(await fetch(operation, transport) == ["fetched"])
        #expect(transport.sent.map(\.path) == ["/ext/1/iCloud.notes/development/account/webToken"])
        #expect(transport.sent.map(\.body) == [#"{"apiToken":"api-of-a-page"}"#])
    }

    @Test("ACCT-10: without an API token or a user nothing is sent")
    func missing() async {
        let transport = ScriptedTransport(answering: "{}")
        #expect(
            await fetch(CKFetchWebAuthTokenOperation(), transport) == [
                "invalidArguments: The operation has no API token: set apiToken to one of the "
                    + "container."
            ]
        )
        let nobodys = await fetch(.init(apiToken: "a"), transport, webAuthToken: nil)
        #expect(nobodys.first?.hasPrefix("notAuthenticated: No user is signed in") == true)
        #expect(transport.sent.isEmpty)
    }
}

/// The deprecated permissions, called through a protocol whose requirements are not.
private protocol OldPermissions {
    func ask() async throws -> [Int]
    func read() async throws -> Int
    func handled() async -> String
}

private struct Permissions: OldPermissions {
    var container: CKContainer

    @available(*, deprecated)
    func ask() async throws -> [Int] {
        let asked = try await container.requestApplicationPermission(.userDiscoverability)
        let handled = await withCheckedContinuation { continuation in
            container.requestApplicationPermission(.userDiscoverability) { status, error in
                continuation.resume(returning: error == nil ? status.rawValue : -1)
            }
        }
        return [asked.rawValue, handled]
    }

    @available(*, deprecated)
    func read() async throws -> Int {
        let status = try await container.applicationPermissionStatus(for: .userDiscoverability)
        return status.rawValue
    }

    @available(*, deprecated)
    func handled() async -> String {
        await withCheckedContinuation { continuation in
            container.status(forApplicationPermission: .userDiscoverability) { status, error in
                continuation.resume(returning: "\(status.rawValue) \(text(error).prefix(16))")
            }
        }
    }
}

@Suite struct PermissionTests {
    @Test("ACCT-6: a permission is initial, denied or granted, as the server keeps it")
    func permissions() async throws {
        let transport = ScriptedTransport(
            answering: "{}", #"{"answer":"denied"}"#, #"{"answer":"granted"}"#
        )
        let permissions: any OldPermissions =
            Permissions(container: TestDevice(transport).container)
        #expect(try await permissions.read() == 0)
        #expect(try await permissions.read() == 2)
        #expect(try await permissions.ask() == [3, 3])
        #expect(
            transport.sent.map(\.body).last
                == #"{"permission":"userDiscoverability","action":"request"}"#
        )
    }

    @Test("ACCT-6: without a user a permission could not be completed, with the reason")
    func withoutAUser() async throws {
        let transport = ScriptedTransport(answering: "{}")
        let permissions: any OldPermissions =
            Permissions(container: TestDevice(transport, webAuthToken: nil).container)
        #expect(await permissions.handled() == "1 notAuthenticated")
    }
}
