// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport
import Testing
import TidebellProcesses
import TidebellTesting

/// The server as an operator starts it, and Apple's push service beside it.
@Suite(.hangs)
struct AppleTests {
    private static let token = String(repeating: "ab", count: 32)

    /// A program and a push service, and the key file that joins them.
    private struct Setting {
        let apple: FakeAPNs
        let program: TidebellProgram
        let keyFile: URL

        init() async throws {
            apple = try await FakeAPNs.forHouseholds()
            program = try Built.tidebell()
            try FileManager.default.createDirectory(
                at: program.dataFolder, withIntermediateDirectories: true
            )
            keyFile = program.dataFolder.appendingPathComponent("key.p8")
            try apple.keyFile.write(to: keyFile, atomically: true, encoding: .utf8)
        }

        var arguments: [String] { apple.arguments(keyFile: keyFile) }

        /// The configuration file with the same settings.
        var file: String {
            """
            {"apns": {
              "keyFile": "key.p8", "keyID": "\(apple.keyID)", "teamID": "\(apple.teamID)",
              "gateway": "\(apple.url)", "trustRoots": "\(apple.certificateFile.path)",
              "containers": [
                {"container": "\(Household.container)", "topic": "org.tidebell.tests"}
              ]
            }}
            """
        }
    }

    @Test(
        "PUSH-11: tidebell serve with a key file sends pushes to Apple's service, also after a kill"
    )
    func keyFile() async throws {
        let setting = try await Setting()
        let (apple, program) = (setting.apple, setting.program)
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        var server = try await program.serve(arguments: setting.arguments)
        let home = try await Household(program: program, user: "anna")
        try await home.prepare(zone: "Feed")
        try await home.registerAppleDevice(token: Self.token)
        try await home.save()
        let push = try await apple.next()
        #expect(push.deviceToken == Self.token && push.topic == "org.tidebell.tests")
        #expect(push.notification is CKDatabaseNotification)

        // What Apple does not take before the kill is sent after it.
        apple.refuse(.serviceUnavailable)
        try await home.save()
        try await apple.answered(2)
        server.signal(SIGKILL)
        _ = await server.waitUntilExit()
        apple.behave()
        server = try await program.serve(arguments: setting.arguments)
        #expect(try await apple.next().notification is CKDatabaseNotification)
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
        #expect(apple.received.count == 2)
    }

    @Test("a configuration file in the data folder does the same as the options")
    func configurationFile() async throws {
        let setting = try await Setting()
        let program = setting.program
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        try setting.file.write(
            to: program.dataFolder.appendingPathComponent("tidebell.json"), atomically: true,
            encoding: .utf8
        )
        let server = try await program.serve()
        let home = try await Household(program: program, user: "anna")
        try await home.prepare(zone: "Feed")
        try await home.registerAppleDevice(token: Self.token)
        try await home.save()
        #expect(try await setting.apple.next().deviceToken == Self.token)
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }

    @Test("a bad key file ends the start with a sentence that names it")
    func badKeyFile() async throws {
        let setting = try await Setting()
        defer { try? FileManager.default.removeItem(at: setting.program.dataFolder) }
        try "no key".write(to: setting.keyFile, atomically: true, encoding: .utf8)
        do {
            _ = try await setting.program.run(["serve", "--port", "0"] + setting.arguments)
            Issue.record("the server started")
        } catch let failure as ProcessFailure {
            #expect(failure.description.contains("key.p8 cannot be used for Apple's push service"))
        }
    }
}
