// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import Testing
import TidebellCore
import TidebellHTTP
import TidebellWire

@testable import TidebellServer

@Suite("The data folder and what is missing from it")
final class DataFolderTests {
    private let url = FileManager.default.temporaryDirectory
        .appendingPathComponent("tidebell-folder-\(UUID().uuidString)")

    deinit {
        // A test that failed early may have made none.
        try? FileManager.default.removeItem(at: url)
    }

    private var configuration: ServerConfiguration {
        var configuration = ServerConfiguration(dataFolder: url)
        configuration.logLevel = .critical
        return configuration
    }

    private func makeCloud() async throws {
        let server = try await TidebellServer(configuration)
        _ = try await server.cloud.accounts.prepareFirstRun()
        try await server.cloud.store.close()
    }

    private func remove(_ name: String) throws {
        try FileManager.default.removeItem(at: url.appendingPathComponent(name))
    }

    private func empty(_ name: String) throws {
        try Data().write(to: url.appendingPathComponent(name))
    }

    /// What the operator reads who starts a server.
    private func refusal() async -> String {
        let error = await #expect(throws: OperatorError.self) {
            try await TidebellServer(configuration)
        }
        return error?.description ?? ""
    }

    @Test("M6: a folder whose database is missing is no first run: what is there is named")
    func missingDatabase() async throws {
        try await makeCloud()
        try remove("tidebell.sqlite")
        #expect(
            await refusal()
                == "The folder \(url.path) holds files of a cloud (assets/key, "
                + "tidebell.sqlite-server), but its database tidebell.sqlite is missing. Bring "
                + "it back from a backup (tidebell restore BACKUP --replace), or move the folder "
                + "away to begin a new cloud."
        )
        #expect(!FileManager.default.fileExists(atPath: "\(url.path)/tidebell.sqlite"))
        try FileManager.default.removeItem(at: url.appendingPathComponent("assets"))
        #expect(await refusal().contains("(tidebell.sqlite-server)"))
    }

    @Test("W-22: a folder whose database is empty is no first run")
    func emptyDatabase() async throws {
        try await makeCloud()
        try empty("tidebell.sqlite")
        #expect(
            await refusal().contains("(assets/key), but its database tidebell.sqlite is empty."))
    }

    @Test("A first start that was killed before it had made anything is made up for")
    func killedFirstStart() async throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try empty("tidebell.sqlite")
        try empty("tidebell.sqlite-server")
        try await makeCloud()
    }

    @Test("W-19: an API token for a container that no request can name is refused")
    func containerOfToken() async throws {
        let api = try await TestAPI()
        await #expect(
            throws: OperatorError("A container has 1 to 255 letters, digits, '.' and '-'.")
        ) {
            try await api.cloud.accounts.makeAPIToken(
                named: "x",
                for: ContainerKey(container: "bad_name", environment: .development)
            )
        }
    }

    @Test("A backup that copies keeps every file where it is; afterwards it goes")
    func filesStayForBackups() async throws {
        let folder = url.appendingPathComponent("assets")
        let assets = try AssetFolder(folder, logger: Logger(label: "test"))
        let asset = try #require(
            try await assets.take(upTo: 100) {
                try await $0.write([1, 2, 3])
            } keep: {
                $0
            }
        )
        let path = folder.appendingPathComponent("kept/\(asset.file.prefix(2))/\(asset.file)").path
        do {
            let lock = try AssetFolderLock.toCopy(in: folder)
            let second = try AssetFolderLock.toCopy(in: folder)
            try await assets.remove([asset.file])
            #expect(try await assets.removeStrayFiles { _ in [] } == 0)
            #expect(FileManager.default.fileExists(atPath: path))
            withExtendedLifetime((lock, second)) {}
        }
        #expect(try await assets.removeStrayFiles { _ in [] } == 1)
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
