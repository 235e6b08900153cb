// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import CloudKit

// How far a device has received, beyond a connection, a process and a user.
extension RemoteNotificationTests {
    /// Receives one push as a process of its own, whose stream is to begin at a cursor.
    private func receive(
        _ push: String, from server: StreamServer, beginningAt cursor: String?,
        as webAuthToken: String, keepingIn home: TemporaryFolder
    ) async throws {
        let device = TestDevice(
            server.transport(), clock: ManualClock(), webAuthToken: webAuthToken,
            stateFolder: home.url
        )
        let pushes = PushLog()
        async let registering = device.container.registerForRemoteNotifications {
            await pushes.add($0)
        }
        let connection = await server.nextConnection()
        #expect(connection.request.query["cursor"] == cursor)
        connection.send(Self.ready(cursor ?? "10") + Self.push(push, #"{"n":\#(push)}"#))
        let registration = try await registering
        #expect(await pushes.next()?.number == Int(push))
        registration.cancel()
        await registration.waitUntilEnded()
    }

    @Test("PUSH-13: the cursor outlives the process, in a private file")
    func theCursorOutlivesTheProcess() async throws {
        let home = try TemporaryFolder()
        let server = StreamServer()
        try await receive("11", from: server, beginningAt: nil, as: "annas", keepingIn: home)
        try await receive("12", from: server, beginningAt: "11", as: "annas", keepingIn: home)
        let cursors = try FileManager.default.contentsOfDirectory(
            at: home.url, includingPropertiesForKeys: nil
        )
        .filter { $0.pathExtension == "cursor" }
        #expect(try cursors.map { try String(contentsOf: $0, encoding: .utf8) } == ["12\n"])
    }

    @Test("SUB-51: a user whose record nobody knows has a cursor of their own")
    func cursorsOfUsers() async throws {
        let home = try TemporaryFolder()
        let server = StreamServer()
        try await receive("11", from: server, beginningAt: nil, as: "annas", keepingIn: home)
        try await receive("21", from: server, beginningAt: nil, as: "bens", keepingIn: home)
        try await receive("12", from: server, beginningAt: "11", as: "annas", keepingIn: home)
    }

    @Test("A log that is another one is followed from where the server's stream begins")
    func anotherLog() async throws {
        let server = StreamServer()
        let clock = ManualClock()
        let device = TestDevice(server.transport(), clock: clock)
        let pushes = PushLog()
        async let registering = device.container.registerForRemoteNotifications {
            await pushes.add($0)
        }
        let first = await server.nextConnection()
        first.send(Self.ready("10") + Self.push("11", #"{"n":11}"#))
        let registration = try await registering
        #expect(await pushes.next()?.number == 11)
        first.end()
        await clock.untilSlept(atMost: ReconnectSchedule.backoff.first)
        clock.advance(by: .seconds(1))
        let second = await server.nextConnection()
        second.send(Self.ready("0") + Self.push("11", #"{"n":99}"#))
        #expect(await pushes.next()?.number == 99)
        registration.cancel()
        await registration.waitUntilEnded()
    }
}
