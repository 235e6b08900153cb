// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import CloudKit

@Suite(.hangs) struct UserSwitchTests {
    @Test("SUB-51: when another user signs in, pushes go on from their log with their token")
    func switchingUsers() async throws {
        let home = try TemporaryFolder()
        let server = StreamServer()
        let clock = ManualClock()
        try signIn("anna", in: home)
        let session = DeviceSession(
            configuration: try .load(environment: ["TIDEBELL_HOME": home.url.path]),
            transport: server.transport(),
            time: Time(now: Time.system.now, clock: clock),
            jitter: { 0 }
        )
        let container = CKContainer(identifier: "iCloud.notes", session: session)
        let pushes = PushLog()
        async let registering = container.registerForRemoteNotifications {
            await pushes.add($0)
        }
        let first = await server.nextConnection()
        #expect(first.request.query["ckWebAuthToken"] == "token-anna")
        first.send(RemoteNotificationTests.ready("10"))
        let registration = try await registering

        try signIn("ben", in: home)
        // Any look at the account sees it; the stream ends and waits to connect again.
        #expect(try await container.userRecordID().recordName == "_ben")
        let opened = Locked<StreamServer.Connection?>(nil)
        let waiting = Task { opened.current = await server.nextConnection() }
        await eventually {
            clock.advance(by: .seconds(1))
            return opened.current != nil
        }
        await waiting.value
        let second = try #require(opened.current)
        #expect(second.request.query["ckWebAuthToken"] == "token-ben")
        #expect(second.request.query["cursor"] == nil)
        registration.cancel()
        await registration.waitUntilEnded()
    }

    private func signIn(_ user: String, in home: TemporaryFolder) throws {
        try SessionFile(folder: home.url).change { sessions in
            sessions = [
                SignedInSession(
                    container: "iCloud.notes", environment: "development", server: "http://s",
                    apiToken: "api", webAuthToken: "token-\(user)", user: user,
                    userRecordName: "_\(user)"
                )
            ]
        }
    }
}
