// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellWire

@testable import TidebellServer

/// What any store of files promises.
@Suite("Stores of files", .hangs)
final class AssetStoreTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("tidebell-store-\(UUID().uuidString)")

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private func take(
        _ text: String, in files: any AssetStore, upTo limit: Int64 = 100,
        keep: @Sendable @escaping (StoredAsset) throws -> StoredAsset? = { $0 }
    ) async throws -> StoredAsset? {
        try await files.take(upTo: limit) {
            try await $0.write(Array(text.utf8))
        } keep: {
            try keep($0)
        }
    }

    @Test(
        "A file is kept when the store has noted it, and not before",
        arguments: FileStoreKind.allCases)
    func kept(_ kind: FileStoreKind) async throws {
        let place = TestFiles(try kind.make(), in: folder)
        let files = try place.open()
        let kept = try await take("a picture", in: files) { asset in
            let names = try place.names()
            #expect(names == [asset.file])
            return asset
        }
        let asset = try #require(kept)
        #expect(try place.names() == [asset.file])
        #expect(try place.incoming().isEmpty)
        #expect(await files.hasFile(of: asset))
        try await files.remove([asset.file, asset.file, "../\(asset.file)"])
        #expect(try place.names().isEmpty)
        #expect(await !files.hasFile(of: asset))
        #expect(try await files.contents(of: asset, in: 0..<asset.size) == nil)
        #expect(try await files.contents(of: asset, in: 0..<0) == nil)
    }

    @Test(
        "Nothing is left of a file that is too long, breaks off, or whose content is there already",
        arguments: FileStoreKind.allCases)
    func notKept(_ kind: FileStoreKind) async throws {
        let place = TestFiles(try kind.make(), in: folder)
        let files = try place.open()
        await #expect(throws: FileTooLong.self) {
            _ = try await self.take("a picture", in: files, upTo: 8)
        }
        await #expect(throws: BodyCutShort.self) {
            _ = try await files.take(upTo: 100) {
                try await $0.write([1])
                throw BodyCutShort()
            } keep: {
                $0
            }
        }
        let first = try #require(try await take("a picture", in: files))
        #expect(try await take("a picture", in: files, keep: { _ in first }) == first)
        #expect(try await take("a picture", in: files, keep: { _ in nil }) == nil)
        #expect(try place.names() == [first.file])
        #expect(try place.incoming().isEmpty)
    }

    @Test(
        "ASSET-4: files that the store does not know are removed, and no others",
        arguments: FileStoreKind.allCases)
    func orphans(_ kind: FileStoreKind) async throws {
        struct Stopped: Error {}
        let place = TestFiles(try kind.make(), in: folder)
        let files = try place.open()
        let known = try #require(try await take("known", in: files))
        await #expect(throws: Stopped.self) {
            _ = try await self.take("orphaned", in: files, keep: { _ in throw Stopped() })
        }
        let names = Set(try place.names())
        #expect(names.count == 2)
        let removed = try await files.removeOrphanedFiles { asked in
            #expect(asked == names)
            return [known.file]
        }
        #expect(removed == 1)
        #expect(try place.names() == [known.file])
    }

    @Test(
        "A store that is opened again throws away what was on its way",
        arguments: FileStoreKind.allCases)
    func openedAgain(_ kind: FileStoreKind) async throws {
        let place = TestFiles(try kind.make(), in: folder)
        _ = try place.open()
        let draft = folder.appendingPathComponent("assets/incoming/draft")
        try Data("half".utf8).write(to: draft)
        _ = try place.open()
        #expect(try place.incoming().isEmpty)
    }

    @Test(
        "ASSET-1: a file goes from a client to a record and back, whole and in parts",
        arguments: FileStoreKind.allCases)
    func overHTTP(_ kind: FileStoreKind) async throws {
        let api = try await TestAPI(files: try kind.make())
        let text = String(repeating: "0123456789", count: 20_000)
        let uploaded = try await api.upload(Array(text.utf8), to: "f", of: "r")
        _ = try await api.save(uploaded, as: "f", of: "r")
        let asset = try await api.asset("f", of: "r")
        #expect(try await api.download(asset).text == text)
        let part = try await api.download(asset, headers: ["Range": "bytes=65530-131080"])
        #expect(part.status == 206)
        #expect(part.text == String(text.dropFirst(65530).prefix(65551)))
        let head = try await api.download(asset, method: "HEAD")
        #expect(head[header: "Content-Length"] == "200000")
        let empty = try await api.upload([], to: "f", of: "empty")
        _ = try await api.save(empty, as: "f", of: "empty")
        #expect(try await api.download(try await api.asset("f", of: "empty")).status == 200)
    }

    @Test(
        "A file that somebody took away is missing, and the same content is kept anew when it comes again",
        arguments: FileStoreKind.allCases)
    func lost(_ kind: FileStoreKind) async throws {
        let store = try kind.make()
        let api = try await TestAPI(files: store)
        let place = TestFiles(store, in: api.folder)
        _ = try await api.save(
            try await api.upload(Array("a picture".utf8), to: "f", of: "r"), as: "f", of: "r")
        let name = try #require(try place.names().first)
        try place.put(nil, as: name)
        let asset = try await api.asset("f", of: "r")
        #expect(try await api.download(asset).status == 404)
        #expect(api.log.entries.map(\.metadata["error"]) == ["it is missing"])
        _ = try await api.upload(Array("a picture".utf8), to: "f", of: "other")
        #expect(try await api.download(asset).text == "a picture")
        #expect(try place.names() != [name])
    }
}
