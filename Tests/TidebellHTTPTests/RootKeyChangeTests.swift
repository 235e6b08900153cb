// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellSQLite
import TidebellScheduling
import TidebellServer
import TidebellWire

@Suite("Changing the root key")
struct RootKeyChangeTests {
    private static let old = RootKeySource.text(String(repeating: "07", count: RootKey.length))
    private static let new = RootKeySource.text(String(repeating: "08", count: RootKey.length))
    private static let newKey = RootKey(Array(repeating: 8, count: RootKey.length))
    private static let zones = ["Notes", "Plans"]

    private struct Stopped: Error {}

    private func save(_ word: String, in zone: String, _ api: TestAPI) async throws -> String {
        try await api.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"\(zone)"},"operations":[{"operationType":"create","record":\
            {"recordName":"n","recordType":"Note","fields":\
            {"secret":{"value":"\(word)","isEncrypted":true}}}}]}
            """,
            query: "&clientId=writer", headers: ["X-Tidebell-Request-ID": "save \(zone)"]
        ).text
    }

    private func lookup(_ zone: String, _ api: TestAPI) async throws -> String {
        try await api.post(
            "private/records/lookup",
            #"{"zoneID":{"zoneName":"\#(zone)"},"records":[{"recordName":"n"}]}"#
        ).text
    }

    /// Makes a cloud with two encrypted zones and two files; returns it closed, with the answers
    /// to its writes.
    private func makeCloud() async throws -> (TestAPI, answers: [String: String]) {
        let api = try await TestAPI()
        try await api.cloud.store.write(.everything) { transaction in
            try transaction.putStoreSecret(.test)
            try transaction.adoptRootKey(TestAPI.rootKey.rootKeyID)
        }
        var answers: [String: String] = [:]
        for zone in Self.zones {
            try await api.makeZone(zone)
            answers[zone] = try await save("wordOf\(zone)", in: zone, api)
        }
        for name in ["a", "b"] {
            _ = try await api.save(
                try await api.upload(Array("file \(name)".utf8), to: "f", of: name), as: "f",
                of: name)
        }
        try await api.cloud.store.close()
        return (api, answers)
    }

    /// Changes the key in transactions of one key each, of which the first `steps` are made.
    private func change(
        _ api: TestAPI, steps: Int = .max, to key: RootKeySource = RootKeyChangeTests.new
    ) async throws -> RootKeyRotation.Outcome {
        var left = steps
        return try await RootKeyRotation.run(
            DataFolder(api.folder), from: Self.old, to: key, batchSize: 1
        ) {
            left -= 1
            if left == 0 { throw Stopped() }
        }
    }

    /// Opens the root key as a start of the server does, and closes the store again.
    @discardableResult
    private func start(
        _ folder: URL, with key: RootKeySource, acceptsLoss: Bool = false
    ) async throws -> KeyLoss {
        let store = try DataFolder(folder).openStore(for: .serving)
        do {
            let loss = try await DataFolder(folder).openRootKey(
                from: key, for: store, acceptsLoss: acceptsLoss, at: TestAPI.start
            ).loss
            try await store.close()
            return loss
        } catch {
            try await store.close()
            throw error
        }
    }

    private func refusal(_ folder: URL, _ key: RootKeySource) async throws -> String {
        try #require(
            await #expect(throws: OperatorError.self) { try await self.start(folder, with: key) }
        ).description
    }

    private func problems(_ api: TestAPI, _ key: RootKeySource) throws -> StoreFindings {
        try CloudCheck.run(DataFolder(api.folder), rootKey: key, at: TestAPI.start)
    }

    @Test(
        "Fields, files and kept answers open with the new key, and not with the old one", .onSQLite)
    func whole() async throws {
        let (api, answers) = try await makeCloud()
        let done = try await change(api)
        #expect(done.oldID == TestAPI.rootKey.rootKeyID)
        #expect(done.newID == Self.newKey.rootKeyID)
        #expect(done.progress.zones == 2)
        #expect(done.progress.files == 2)
        #expect(done.progress.answers == 2)
        #expect(done.progress.unopened == 0)
        #expect(try await refusal(api.folder, Self.old).contains("not the root key"))
        try await start(api.folder, with: Self.new)
        let found = try problems(api, Self.new)
        #expect(found.problems == [])
        #expect(found.unreadFiles == 0)
        let later = try TestAPI(on: api.folder, knowing: api.callers, rootKey: Self.newKey)
        for zone in Self.zones {
            #expect(try await lookup(zone, later).contains("wordOf\(zone)"))
            // It was done once.
            #expect(try await save("wordOf\(zone)", in: zone, later) == answers[zone])
        }
        for name in ["a", "b"] {
            let asset = try await later.asset("f", of: name)
            #expect(try await later.download(asset).text == "file \(name)")
        }
        try await later.cloud.store.close()
        withExtendedLifetime(api) {}
    }

    @Test(
        "A change that is stopped after any step goes on; no server starts before its end",
        .onSQLite)
    func stopped() async throws {
        let (api, _) = try await makeCloud()
        var steps = 1
        var counts = [0, 0]
        while true {
            do {
                let done = try await change(api, steps: steps)
                #expect(done.wasBegun)
                break
            } catch is Stopped {}
            for key in [Self.old, Self.new] {
                #expect(
                    try await refusal(api.folder, key).contains(
                        "tidebell root-key rotate --data \(api.folder.path)")
                )
            }
            let found = try problems(api, Self.old)
            #expect(!found.isDamaged, "\(found.problems)")
            #expect(found.problems.map(\.problem).count { $0.contains("was stopped") } == 1)
            counts.append(found.unreadFiles)
            steps += 1
            try #require(steps < 100)
        }
        // It was stopped before the files, and after them.
        #expect(Set(counts) == [0, 2])
        try await start(api.folder, with: Self.new)
        #expect(try problems(api, Self.new).problems == [])
        let later = try TestAPI(on: api.folder, knowing: api.callers, rootKey: Self.newKey)
        for zone in Self.zones {
            #expect(try await lookup(zone, later).contains("wordOf\(zone)"))
        }
        try await later.cloud.store.close()
        withExtendedLifetime(api) {}
    }

    @Test(
        "With one key of a stopped change lost, the other one's zones and files stay",
        arguments: [
            true, false,
        ])
    func oneKeyLost(keepsNew: Bool) async throws {
        let (api, _) = try await makeCloud()
        // One zone; then both and one file.
        await #expect(throws: Stopped.self) { try await self.change(api, steps: keepsNew ? 4 : 1) }
        let loss = try await start(
            api.folder, with: keepsNew ? Self.new : Self.old, acceptsLoss: true)
        #expect(loss == (keepsNew ? KeyLoss(files: 1) : KeyLoss(zones: 1, records: 1)))
        #expect(try await start(api.folder, with: keepsNew ? Self.new : Self.old) == KeyLoss())
        let later = try TestAPI(
            on: api.folder, knowing: api.callers,
            rootKey: keepsNew ? Self.newKey : TestAPI.rootKey)
        var words: Set<String> = []
        for zone in Self.zones where try await lookup(zone, later).contains("wordOf\(zone)") {
            words.insert(zone)
        }
        #expect(words == (keepsNew ? ["Notes", "Plans"] : ["Plans"]))
        try await later.cloud.store.close()
        withExtendedLifetime(api) {}
    }

    @Test("Wrong keys are refused by their names, and nothing is made nor changed")
    func refused() async throws {
        let (api, _) = try await makeCloud()
        let data = DataFolder(api.folder)
        let file = api.folder.appendingPathExtension("key")
        defer { try? FileManager.default.removeItem(at: file) }
        let wrong = try #require(
            await #expect(throws: OperatorError.self) {
                try await RootKeyRotation.run(data, from: Self.new, to: .file(file))
            })
        #expect(wrong.description.contains(Self.newKey.rootKeyID))
        #expect(!FileManager.default.fileExists(atPath: file.path))
        let same = try await RootKeyRotation.run(data, from: Self.old, to: Self.old)
        #expect(same.wasDone)
        try await start(api.folder, with: Self.old)

        await #expect(throws: Stopped.self) { try await self.change(api, steps: 2) }
        let third = try #require(
            await #expect(throws: OperatorError.self) {
                try await self.change(api, to: .text(String(repeating: "09", count: 32)))
            })
        #expect(third.description.contains("to the root key \(Self.newKey.rootKeyID) was stopped"))
        #expect(try await change(api).wasBegun)
        let again = try await RootKeyRotation.run(data, from: Self.old, to: Self.new)
        #expect(again.wasDone)
        withExtendedLifetime(api) {}
    }

    @Test("A key of a zone that is damaged is counted, and keeps no server from starting")
    func damagedKey() async throws {
        let (api, _) = try await makeCloud()
        let store = try DataFolder(api.folder).openStore(for: .serving)
        try await store.write(.everything) { transaction in
            let id = TestAPI.rootKey.rootKeyID
            let first = try #require(
                try transaction.zoneKeys(wrappedBy: id, after: nil, limit: 1).first)
            try transaction.putFieldKey(WrappedKey([1, 2, 3]), wrappedBy: id, of: first.zone)
        }
        try await store.close()
        let done = try await change(api)
        #expect(done.progress.zones == 1)
        #expect(done.progress.unopened == 1)
        try await start(api.folder, with: Self.new)
        withExtendedLifetime(api) {}
    }

    @Test(
        "A key is made where its file is not there; an old backup opens with the old key only",
        .onSQLite)
    func madeKey() async throws {
        let (api, _) = try await makeCloud()
        let data = DataFolder(api.folder)
        let folder = api.folder.appendingPathExtension("other")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let backup = folder.appendingPathComponent("backup")
        _ = try Backup.make(of: data, to: backup, at: TestAPI.start)
        try Data(String(repeating: "07", count: 32).utf8)
            .write(to: api.folder.appendingPathComponent("root-key"))
        let file = folder.appendingPathComponent("key")
        let done = try await RootKeyRotation.run(data, from: .dataFolder, to: .file(file))
        #expect(done.madeKey)
        #expect(done.oldKeyLeft == api.folder.appendingPathComponent("root-key"))
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        try await start(api.folder, with: .file(file))

        let restored = folder.appendingPathComponent("restored")
        _ = try await Restoring.run(
            backup, to: DataFolder(restored), replacing: false, at: TestAPI.start)
        #expect(try await refusal(restored, .file(file)).contains("not the root key"))
        try await start(restored, with: Self.old)
        withExtendedLifetime(api) {}
    }

    @Test(
        "A cloud that is served, that is none, or that has no root key yet is left alone", .onSQLite
    )
    func notPossible() async throws {
        let api = try await TestAPI()
        func sentence(_ folder: URL) async throws -> String {
            try #require(
                await #expect(throws: OperatorError.self) {
                    try await RootKeyRotation.run(
                        DataFolder(folder), from: Self.old, to: Self.new)
                }
            ).description
        }
        #expect(try await sentence(api.folder).contains("in use"))
        try await api.cloud.store.close()
        #expect(try await sentence(api.folder).contains("is encrypted yet"))
        #expect(try await sentence(TestAPI.newFolder()).contains("There is no cloud in"))
    }
}
