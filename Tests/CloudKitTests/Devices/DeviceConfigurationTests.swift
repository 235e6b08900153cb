// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit
@testable import TidebellDevice

@Suite struct DeviceConfigurationTests {
    @Test("Without any configuration the device has the default server and nobody signed in")
    func defaults() throws {
        let home = try TemporaryFolder()
        let configuration = try DeviceConfiguration.load(environment: ["HOME": home.url.path])
        #expect(configuration.server.absoluteString == "http://127.0.0.1:8642")
        #expect(configuration.apiToken == nil)
        #expect(configuration.webAuthToken == nil)
        #expect(configuration.environment == "development")
        #expect(configuration.defaultContainer == nil)
        #expect(
            configuration.stateFolder?.path == home.url.appendingPathComponent(".tidebell").path)
        #expect(UUID(uuidString: configuration.deviceID) != nil)
    }

    @Test("Variables win over device.json, and an empty variable sets nothing")
    func variablesWin() throws {
        let home = try TemporaryFolder()
        try home.write(
            """
            {"server":"https://file.example","apiToken":"file-api","webAuthToken":"file-web",
             "environment":"production","container":null,"future":[1]}
            """,
            to: "device.json"
        )
        let configuration = try DeviceConfiguration.load(environment: [
            "TIDEBELL_HOME": home.url.path, "TIDEBELL_API_TOKEN": "variable-api",
            "TIDEBELL_WEB_AUTH_TOKEN": "", "TIDEBELL_CONTAINER": "iCloud.variable",
        ])
        #expect(configuration.server.absoluteString == "https://file.example")
        #expect(configuration.apiToken == "variable-api")
        #expect(configuration.webAuthToken == "file-web")
        #expect(configuration.environment == "production")
        #expect(configuration.defaultContainer == "iCloud.variable")
    }

    @Test("The device ID is made once, in a private file of a private folder")
    func theDeviceIDIsMadeOnce() throws {
        let home = try TemporaryFolder()
        let folder = home.url.appendingPathComponent("new/state")
        let first = try DeviceState(folder: folder).deviceID()
        #expect(try DeviceState(folder: folder).deviceID() == first)
        #expect(try permissions(folder) == 0o700)
        #expect(try permissions(folder.appendingPathComponent("device-id")) == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["device-id"])
    }

    @Test("An empty file of the device ID, as a loss of power may leave it, is made anew")
    func emptyDeviceID() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("device-\(UUID().uuidString)", isDirectory: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data().write(to: folder.appendingPathComponent(DeviceState.deviceIDFile))
        let state = DeviceState(folder: folder)
        let id = try state.deviceID()
        #expect(UUID(uuidString: id) != nil)
        #expect(try state.deviceID() == id)
        try Data().write(to: folder.appendingPathComponent(SessionFile.name))
        let sessions = SessionFile(folder: folder)
        #expect(throws: DeviceError.self) { try sessions.read() }
        try FileManager.default.removeItem(at: folder.appendingPathComponent(SessionFile.name))
        #expect(try sessions.read() == [])
    }

    @Test("Devices that start at once agree on one ID")
    func devicesAgreeOnOneID() async throws {
        let home = try TemporaryFolder()
        let folder = home.url
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<16 { group.addTask { try DeviceState(folder: folder).deviceID() } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
    }

    /// Variables and `device.json` that are wrong, and the error's text.
    static let mistakes: [([String: String], String?, String)] = [
        (
            ["TIDEBELL_SERVER": "127.0.0.1:8642"], nil,
            "networkFailure: \"127.0.0.1:8642\" is not a server address such as "
                + "http://127.0.0.1:8642; set TIDEBELL_SERVER or \"server\" in device.json."
        ),
        (
            ["TIDEBELL_ENVIRONMENT": "staging"], nil,
            "badContainer: The environment is \"staging\", but must be \"development\" or "
                + "\"production\"; set TIDEBELL_ENVIRONMENT or \"environment\" in device.json."
        ),
        (
            [:], "{\"server\":7}",
            "badContainer: HOME/device.json cannot be read: server: expected a string, found "
                + "a number"
        ),
        (
            [:], "{",
            "badContainer: HOME/device.json cannot be read: expected a member name at byte 1"
        ),
    ]

    @Test("A mistake is reported with its variable or file", arguments: mistakes.indices)
    func aMistakeIsReported(row: Int) throws {
        let (variables, file, expected) = Self.mistakes[row]
        let home = try TemporaryFolder()
        if let file { try home.write(file, to: "device.json") }
        var environment = variables
        environment["TIDEBELL_HOME"] = home.url.path
        let result = Result { try DeviceConfiguration.load(environment: environment) }
        let reported = text(result).replacingOccurrences(of: home.url.path, with: "HOME")
        #expect(reported == expected)
    }

    @Test("A state folder that cannot be written is reported with its variable")
    func aReadOnlyFolderIsReported() throws {
        let home = try TemporaryFolder()
        try home.write("", to: "file")
        let folder = home.url.appendingPathComponent("file/state")
        let result = Result { try DeviceState(folder: folder).deviceID() }
        #expect(text(result).hasPrefix("internalError: "))
        #expect(text(result).contains("Set TIDEBELL_HOME to a folder that can be written."))
    }

    @Test("A file is replaced as a whole")
    func aFileIsReplaced() throws {
        let home = try TemporaryFolder()
        let state = DeviceState(folder: home.url)
        #expect(try state.read("cursor") == nil)
        try state.write("12345", to: "cursor", isDurable: true)
        try state.write("6", to: "cursor", isDurable: true)
        #expect(try state.read("cursor") == "6")
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.url.path) == ["cursor"])
    }

    private func permissions(_ url: URL) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
    }
}

/// A folder that goes with the test.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: url.appendingPathComponent(name))
    }
}
