// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport
import Testing
import TidebellProcesses

@Suite("tidebell root-key", .hangs)
struct RootKeyCommandTests {
    @Test("rotate changes the key of a cloud with encrypted fields; the old one serves it no more")
    func rotate() async throws {
        let program = try Built.tidebell()
        let key = program.dataFolder.appendingPathExtension("key")
        defer {
            for file in [program.dataFolder, key] { try? FileManager.default.removeItem(at: file) }
        }
        let rotate = ["root-key", "rotate", "--new-root-key-file", key.path]
        func failure(_ arguments: [String]) async throws -> String {
            try await #require(throws: ProcessFailure.self) { _ = try await program.run(arguments) }
                .description
        }
        var server = try await program.serve()
        let home = try await Household(program: program, user: "anna")
        try await home.prepare(zone: "Feed")
        let (_, device) = try home.database()
        let record = CKRecord(
            recordType: "Entry",
            recordID: CKRecord.ID(recordName: "r", zoneID: FetchedState.zoneID)
        )
        record.encryptedValues["secret"] = "word of the secret"
        _ = try await device.save(record)
        #expect(try await failure(rotate).contains("is in use by"))
        #expect(!FileManager.default.fileExists(atPath: key.path))
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)

        let printed = try await program.run(rotate)
        let text = printed.joined(separator: "\n")
        #expect(text.contains("Made a root key in \(key.path)"))
        #expect(text.contains("1 key of a zone"))
        #expect(text.contains("\(program.dataFolder.path)/root-key"))
        #expect(
            printed.last
                == "   tidebell serve --data \(program.dataFolder.path) --root-key-file \(key.path)"
        )
        let again = try await program.run(rotate)
        #expect(again.count == 1 && again[0].hasSuffix(" already."))
        // The one in the data folder is the old one still.
        #expect(try await failure(["serve"]).contains("This is not the root key"))

        server = try await program.serve(arguments: ["--root-key-file", key.path])
        let (_, other) = try home.database()
        let fetched = try await other.record(for: record.recordID)
        let secret: String? = fetched.encryptedValues["secret"]
        #expect(secret == "word of the secret")
        let checked = try await program.run(["check", "--root-key-file", key.path])
        #expect(checked.first?.hasPrefix("No problem in") == true)
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }
}
