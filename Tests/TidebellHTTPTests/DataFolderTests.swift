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

    /// The error that an operator gets at the start of a server.
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
                == "The folder \(url.path) has files of a cloud (tidebell.sqlite-server), "
                + "but its database tidebell.sqlite is missing. Restore it from a backup "
                + "(tidebell restore BACKUP --replace --data \(url.path)), or move the folder away "
                + "to begin a new cloud."
        )
        #expect(!FileManager.default.fileExists(atPath: "\(url.path)/tidebell.sqlite"))
        try FileManager.default.removeItem(at: url.appendingPathComponent("assets"))
        #expect(await refusal().contains("(tidebell.sqlite-server)"))
    }

    @Test("A folder that is another user's is there, and its owner is named")
    func anothersFolder() async throws {
        #expect(
            DataFolder.refusal(of: "/srv/cloud", owner: "tide", to: "nobody")
                == "The folder /srv/cloud belongs to the user 'tide', and 'nobody' cannot read it; "
                + "run the command as that user: sudo -u tide tidebell …"
        )
        try await makeCloud()
        // Nothing is forbidden to root.
        guard geteuid() != 0 else { return }
        chmod(url.path, 0)
        defer { chmod(url.path, 0o700) }
        #expect(await refusal().contains("cannot be read by its owner"))
    }

    @Test("A path with a space is quoted where a command is proposed")
    func quotedPath() {
        #expect(DataFolder(URL(fileURLWithPath: "/a/b-c")).option == " --data /a/b-c")
        #expect(
            DataFolder(URL(fileURLWithPath: "/a/it's b")).option == #" --data '/a/it'\''s b'"#)
    }

    @Test("A root key file that others may read is warned of, and a copy that stayed in the folder")
    func rootKeyWarnings() async throws {
        let elsewhere = url.appendingPathExtension("key")
        defer { try? FileManager.default.removeItem(at: elsewhere) }
        try await makeCloud()
        let folder = DataFolder(url)
        let copy = url.appendingPathComponent("root-key")
        #expect(folder.permissionWarnings() == [])
        #expect(folder.orphanedRootKeyWarning(rootKey: .dataFolder) == nil)
        #expect(folder.orphanedRootKeyWarning(rootKey: .file(copy)) == nil)
        try FileManager.default.copyItem(at: copy, to: elsewhere)
        chmod(elsewhere.path, 0o644)
        #expect(
            folder.permissionWarnings(rootKey: .file(elsewhere)) == [
                "Others on this machine may use \(elsewhere.path) (mode 644); to change that: "
                    + "chmod 600 \(elsewhere.path)"
            ]
        )
        chmod(elsewhere.path, 0o600)
        #expect(folder.permissionWarnings(rootKey: .file(elsewhere)) == [])
        let link = url.appendingPathExtension("link")
        defer { try? FileManager.default.removeItem(at: link) }
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
        let key = link.appendingPathComponent("root-key")
        #expect(DataFolder(link).orphanedRootKeyWarning(rootKey: .file(key)) == nil)
        #expect(DataFolder(link).orphanedRootKeyWarning(rootKey: .file(copy)) == nil)
        let warning = try #require(folder.orphanedRootKeyWarning(rootKey: .file(elsewhere)))
        #expect(warning.contains(copy.path))
        try remove("root-key")
        #expect(folder.orphanedRootKeyWarning(rootKey: .file(elsewhere)) == nil)
    }

    @Test("W-22: a folder whose database is empty is no first run")
    func emptyDatabase() async throws {
        try await makeCloud()
        try empty("tidebell.sqlite")
        #expect(
            await refusal().contains(
                "(tidebell.sqlite-server), but its database tidebell.sqlite is empty."))
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
            throws: OperatorError(
                .invalid, .container, "A container has 1 to 255 letters, digits, '.' and '-'."
            )
        ) {
            try await api.cloud.accounts.makeAPIToken(
                named: "x",
                for: ContainerKey(container: "bad_name", environment: .development)
            )
        }
    }

    @Test("A process that only reads makes no lock among the files; one that serves makes it")
    func lockFile() throws {
        let folder = url.appendingPathComponent("assets")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let lock = folder.appendingPathComponent(AssetFolderLock.name).path
        #expect(try AssetFolderLock.toCopy(in: folder) == nil)
        #expect(!FileManager.default.fileExists(atPath: lock))
        _ = try AssetFolder(folder, logger: Logger(label: "test"))
        #expect(try AssetFolderLock.toCopy(in: folder) != nil)
        let mode = try FileManager.default.attributesOfItem(atPath: lock)[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)
    }

    @Test(
        "A path in a command that is proposed is one word of the shell, whatever is in it",
        arguments: [
            "/a/b-c_d.e+f@g", "/a b", "it's", "$(id)", "a;b", "~", "*", "", "ü", "a\nb", "\\",
            "'\u{301};id",
        ]
    )
    func shellWords(text: String) throws {
        let output = try #require(popen("printf %s. \(text.asShellWord)", "re"))
        var printed = [UInt8](repeating: 0, count: 100)
        let count = fread(&printed, 1, printed.count, output)
        #expect(pclose(output) == 0)
        #expect(String(decoding: printed.prefix(count), as: UTF8.self) == text + ".")
        #expect(DataFolder(URL(fileURLWithPath: "/a b")).option == " --data '/a b'")
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
            #expect(try await assets.removeOrphanedFiles { _ in [] } == 0)
            #expect(FileManager.default.fileExists(atPath: path))
            withExtendedLifetime((lock, second)) {}
        }
        #expect(try await assets.removeOrphanedFiles { _ in [] } == 1)
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
