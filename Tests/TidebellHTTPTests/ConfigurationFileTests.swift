// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellCore
import TidebellServer

@Suite("The configuration file")
struct ConfigurationFileTests {
    /// Reads `text` as the configuration file of a data folder; the URL of the folder
    /// stands for `FOLDER` in what fails.
    private static func read(_ text: String) throws -> ServerConfiguration {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-file-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = ServerConfiguration(dataFolder: folder)
        let file = folder.appendingPathComponent(ServerConfiguration.fileName)
        try text.write(to: file, atomically: true, encoding: .utf8)
        do {
            try configuration.readFile()
        } catch let error as OperatorError {
            throw OperatorError(error.description.replacing(folder.path, with: "FOLDER"))
        }
        return configuration
    }

    private static func failure(_ text: String) -> String? {
        do {
            _ = try read(text)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test("no file changes nothing; a file that was named has to be there")
    func noFile() throws {
        var configuration = ServerConfiguration(dataFolder: URL(filePath: "/nonexistent"))
        try configuration.readFile()
        #expect(configuration.apns == APNsSettings())
        let error = OperatorError("The configuration file /nonexistent/x.json cannot be read.")
        #expect(throws: error) {
            try configuration.readFile(URL(filePath: "/nonexistent/x.json"))
        }
    }

    @Test("the section about Apple's push service, paths relative to the file")
    func apns() throws {
        let configuration = try Self.read(
            """
            {"apns": {"keyFile": "k.p8", "keyID": "A", "teamID": "B", "port": 2197, "containers": [
              {"container": "c", "topic": "t"},
              {"container": "d", "topic": "u", "keyFile": "/keys/d.p8", "keyID": "D"}]}}
            """
        )
        let settings = configuration.apns
        #expect(settings.key.file?.lastPathComponent == "k.p8")
        #expect(settings.key.file?.path.hasPrefix(configuration.dataFolder.path) == true)
        #expect(settings.key.keyID == "A" && settings.key.teamID == "B" && settings.port == 2197)
        #expect(settings.containers.map(\.topic) == ["t", "u"])
        #expect(settings.containers.last?.key.file?.path == "/keys/d.p8")
    }

    @Test(
        "what is wrong is named with its location",
        arguments: [
            (#"{"apsn": {}}"#, "apsn: unknown section"),
            (#"{"apns": {"keyfile": "x"}}"#, "apns.keyfile: unknown member"),
            (
                #"{"apns": {"port": 80}}"#,
                "apns.port: Apple's hosts listen on 443 and 2197, not on 80"
            ),
            (#"{"apns": {"gateway": "http://x"}}"#, "apns.gateway: 'http://x' must be https://"),
            (
                #"{"apns": {"containers": [{"topic": "t"}]}}"#,
                "apns.containers[0]: missing required"
            ),
            (#"{"apns": "#, "unexpected end"),
        ])
    func wrong(text: String, location: String) {
        let failure = Self.failure(text)
        #expect(failure?.hasPrefix("The configuration file FOLDER/tidebell.json is wrong") == true)
        #expect(failure?.contains(location) == true, "\(failure ?? "no failure")")
    }

    @Test("half a configuration is refused with what is missing")
    func incomplete() throws {
        var settings = APNsSettings()
        #expect(try settings.configuration() == nil)
        settings.key.keyID = "TESTKEY123"
        #expect(throws: OperatorError.self) { try settings.configuration() }
        settings.containers = [.init(container: "c", topic: "t")]
        #expect(
            throws: OperatorError(
                "Pushes of c to Apple's push service need a key file, a key ID and a team ID; "
                    + "the key file is missing."
            )
        ) { try settings.configuration() }
        settings.key.file = URL(filePath: "/nonexistent/key.p8")
        settings.key.teamID = "TESTTEAM12"
        #expect(
            throws: OperatorError(
                "The key file /nonexistent/key.p8 for Apple's push service cannot be read."
            )
        ) { try settings.configuration() }
    }
}
