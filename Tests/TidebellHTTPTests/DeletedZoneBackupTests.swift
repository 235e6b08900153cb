// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import Logging
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellSQLite
import TidebellScheduling
import TidebellWire

@testable import TidebellServer

/// A zone with encrypted fields is deleted: what copies of the store from before and after it still hold.
@Suite("Backups around the deletion of a zone", .hangs, .onSQLite)
final class DeletedZoneBackupTests {
    private static let secret = "wordOfTheSecret"

    private let root = FileManager.default.temporaryDirectory
        .appendingPathComponent("tidebell-deleted-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    }

    deinit {
        // Nothing is left to be done where that fails.
        try? FileManager.default.removeItem(at: root)
    }

    /// When a backup is made, and of what.
    enum Moment: String, CaseIterable {
        case before, beforeWithoutKeys, after
    }

    private func backup(_ api: TestAPI, _ moment: Moment) throws {
        var options = Backup.Options()
        options.withoutKeys = moment == .beforeWithoutKeys
        _ = try Backup.make(
            of: DataFolder(api.folder), to: root.appendingPathComponent(moment.rawValue),
            at: TestAPI.start, options)
    }

    /// The key of the zone as it is stored, wrapped.
    private func wrappedKey(_ store: any Store) async throws -> [UInt8]? {
        let container = ContainerKey(container: TestAPI.container, environment: .development)
        return try await store.read { reader in
            let account = try #require(try reader.account(named: "me"))
            let user = try #require(try reader.user(of: account, in: container))
            let key = DatabaseKey(container: container, scope: .private, owner: user.id)
            guard let database = try reader.database(key),
                case .wrapped(let wrapped)? =
                    try reader.zones(["Notes"], in: database.id).first?.fieldKey
            else { return nil }
            return wrapped.bytes
        }
    }

    /// The files of a folder that hold some bytes.
    private func files(of folder: URL, with bytes: [UInt8]) throws -> [String] {
        let names = FileManager.default.enumerator(atPath: folder.path)?.allObjects
        return (names as? [String] ?? []).filter { name in
            let file = folder.appendingPathComponent(name)
            return (try? Data(contentsOf: file))?.range(of: Data(bytes)) != nil  // else a folder
        }
    }

    /// Calls a restored cloud as the user of the first one.
    private func call(
        _ store: any OpenedStore, _ api: TestAPI, rootKey: RootKey, _ path: String, _ body: String
    ) async throws -> TestAPI.Answer {
        let clock = api.clock
        let cloud = CloudServices(
            store: store, secret: .test, rootKey: rootKey,
            time: Time(now: { clock.instant }, clock: clock), randomness: .system,
            logger: TestLog(level: .critical).logger)
        let response = await cloud.respond(.post, api.target(path), body: Array(body.utf8))
        return TestAPI.Answer(
            status: response.status,
            text: String(decoding: try await response.body.collect(), as: UTF8.self))
    }

    private static let lookup =
        #"{"zoneID":{"zoneName":"Notes"},"records":[{"recordName":"n1"}]}"#
    private static let deletion =
        #"{"operations":[{"operationType":"delete","zone":{"zoneID":{"zoneName":"Notes"}}}]}"#

    /// A cloud whose zone was deleted, with its backups; returns the key that the zone had and a
    /// token of the days after.
    private func makeBackups(_ api: TestAPI) async throws -> (key: [UInt8], token: String) {
        try await api.cloud.store.write(.everything) {
            try $0.adoptRootKey(TestAPI.rootKey.rootKeyID)
        }
        // As a server does; without one, a check warns.
        _ = try await DataFolder(api.folder).openSecret(
            of: api.cloud.store, randomness: .system)
        try await api.makeZone("Notes")
        let saved = try await api.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"create","record":{\
            "recordName":"n1","recordType":"Note","fields":{"title":{"value":"plain"},\
            "secret":{"value":"\(Self.secret)","isEncrypted":true}}}}]}
            """)
        try #require(saved.text.contains(Self.secret))
        let key = try #require(try await wrappedKey(api.cloud.store))
        try backup(api, .before)
        try backup(api, .beforeWithoutKeys)
        _ = try await api.post("private/zones/modify", Self.deletion)
        try backup(api, .after)
        let changes = try await api.post("private/changes/database", "{}")
        let token = changes.text.matches(of: /"syncToken":"([^"]*)"/).map(\.output.1).last
        return (key, String(try #require(token)))
    }

    @Test("REC-11: of a deleted zone's key only a whole backup from before has anything, wrapped")
    func keys() async throws {
        let api = try await TestAPI()
        let (key, _) = try await makeBackups(api)
        for moment in Moment.allCases {
            let folder = root.appendingPathComponent(moment.rawValue)
            #expect(
                try files(of: folder, with: key).isEmpty == (moment != .before), "\(moment)")
            #expect(
                try files(of: folder, with: Array(Self.secret.utf8)).isEmpty, "\(moment)")
        }
    }

    @Test(
        "REC-11: a deleted zone's encrypted fields open with a backup's keys and the root key only",
        arguments: Moment.allCases, [true, false])
    func fields(moment: Moment, hasRootKey: Bool) async throws {
        let api = try await TestAPI()
        _ = try await makeBackups(api)
        let data = DataFolder(root.appendingPathComponent("data"))
        _ = try await Restoring.run(
            root.appendingPathComponent(moment.rawValue), to: data, replacing: false,
            at: TestAPI.start)
        let store = try data.openStore(for: .serving)
        let other = RootKey(Array(repeating: 8, count: RootKey.length))
        let answer = try await call(
            store, api, rootKey: hasRootKey ? TestAPI.rootKey : other, "private/records/lookup",
            Self.lookup)
        let isReadable = moment == .before && hasRootKey
        #expect(answer.text.contains(Self.secret) == isReadable, "\(answer.text)")
        #expect((answer.status == 200) == isReadable, "\(answer.text)")
        try await store.close()
    }

    @Test("REC-11, H6: a zone that a backup brings back is whole, and goes with its key again")
    func coherence() async throws {
        let api = try await TestAPI()
        let (key, token) = try await makeBackups(api)
        let data = DataFolder(root.appendingPathComponent("data"))
        _ = try await Restoring.run(
            root.appendingPathComponent("before"), to: data, replacing: false, at: TestAPI.start)
        let keyFile = root.appendingPathComponent("key")
        try Data(repeating: 7, count: RootKey.length).write(to: keyFile)
        func problems() throws -> [String] {
            try CloudCheck.run(data, rootKey: .file(keyFile), at: TestAPI.start)
                .problems.map(\.description)
        }
        #expect(try problems() == [])
        let store = try data.openStore(for: .serving)
        func send(_ path: String, _ body: String) async throws -> TestAPI.Answer {
            try await call(store, api, rootKey: TestAPI.rootKey, path, body)
        }
        // Who saw the deletion begins anew, and finds the zone.
        let late = try await send("private/changes/database", #"{"syncToken":"\#(token)"}"#)
        #expect(late.error?.reason.contains("from an older moment") == true, "\(late.text)")
        let fresh = try await send("private/changes/database", "{}")
        #expect(fresh.text.contains(#""zoneName":"Notes""#), "\(fresh.text)")
        #expect(!fresh.text.contains(#""deleted":true"#), "\(fresh.text)")
        let changes = try await send(
            "private/changes/zone", #"{"zones":[{"zoneID":{"zoneName":"Notes"}}]}"#)
        #expect(changes.text.contains(Self.secret), "\(changes.text)")
        let saved = try await send(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"forceUpdate","record":{\
            "recordName":"n2","recordType":"Note","fields":{\
            "secret":{"value":"\(Self.secret)2","isEncrypted":true}}}}]}
            """)
        #expect(saved.text.contains("\(Self.secret)2"), "\(saved.text)")
        #expect(try await wrappedKey(store) == key)
        #expect(try problems() == [])

        _ = try await send("private/zones/modify", Self.deletion)
        let gone = try await send("private/records/lookup", Self.lookup)
        #expect(gone.error?.code == .zoneNotFound, "\(gone.text)")
        #expect(try problems() == [])
        try await store.close()
        #expect(try files(of: data.url, with: key) == [])
    }
}
