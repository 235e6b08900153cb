// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellCore
import TidebellHTTP
import TidebellServer
import TidebellWire

@Suite("Files at rest")
final class EncryptedFileTests {
    private static let frame = 64 * 1024
    private static let word = Array("a word that only this file has".utf8)

    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("tidebell-files-\(UUID().uuidString)")

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private func files(_ kind: FileStoreKind) throws -> TestFiles {
        TestFiles(try kind.make(), in: folder)
    }

    private func keep(_ bytes: [UInt8], in files: any AssetStore) async throws -> StoredAsset {
        let kept = try await files.take(upTo: .max) { writer in
            // In pieces that fit no frame.
            for start in stride(from: 0, to: bytes.count, by: 50_000) {
                try await writer.write(Array(bytes[start..<min(bytes.count, start + 50_000)]))
            }
        } keep: {
            $0
        }
        return try #require(kept)
    }

    private func read(
        _ asset: StoredAsset, _ range: Range<Int64>? = nil, in files: any AssetStore
    ) async throws -> [UInt8] {
        let body = try await files.contents(of: asset, in: range ?? 0..<asset.size)
        return try await #require(body).collect()
    }

    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251) }
    }

    @Test(
        "ASSET-8: what a file holds does not stand where it is kept; without a root key it does",
        arguments: FileStoreKind.allCases)
    func plainText(_ kind: FileStoreKind) async throws {
        let place = try files(kind)
        for rootKey in [TestAPI.rootKey, nil] {
            let files = try place.open(rootKey)
            let asset = try await keep(Self.word, in: files)
            let stored = Data(try place.stored(asset.file))
            #expect((stored.range(of: Data(Self.word)) != nil) == (rootKey == nil))
            #expect((asset.key != nil) == (rootKey != nil))
            #expect(asset.size == Self.word.count)
            #expect(
                asset.content.rawValue
                    == Hex.text(Secret.hash(String(decoding: Self.word, as: UTF8.self))))
            #expect(try await read(asset, in: files) == Self.word)
        }
    }

    @Test(
        "ASSET-8: files of every length come back whole and in parts",
        arguments: FileStoreKind.allCases,
        [0, 1, frame - 1, frame, frame + 1, 2 * frame, 3 * frame + 5]
    )
    func lengths(_ kind: FileStoreKind, _ count: Int) async throws {
        let place = try files(kind)
        let bytes = Self.bytes(count)
        for rootKey in [TestAPI.rootKey, nil] {
            let files = try place.open(rootKey)
            let asset = try await keep(bytes, in: files)
            #expect(try await read(asset, in: files) == bytes)
            for start in [0, 1, Self.frame - 1, Self.frame, 2 * Self.frame + 1]
            where start < count {
                for end in [start + 1, start + Self.frame, count] where end <= count {
                    let part = try await read(asset, Int64(start)..<Int64(end), in: files)
                    #expect(part == Array(bytes[start..<end]), "\(start)..<\(end)")
                }
            }
        }
    }

    /// What somebody does to a file where it is kept.
    enum Change: CaseIterable {
        case cutAtFrame, exchangedFrames, turnedBit
    }

    @Test(
        "ASSET-8: a file that was changed where it is kept is not sent",
        arguments: FileStoreKind.allCases, Change.allCases)
    func changed(_ kind: FileStoreKind, _ change: Change) async throws {
        let place = try files(kind)
        let files = try place.open()
        let asset = try await keep(Self.bytes(3 * Self.frame), in: files)
        var stored = try place.stored(asset.file)
        let length = Self.frame + 16
        #expect(stored.count == 3 * length)
        switch change {
        case .cutAtFrame: stored = Array(stored.prefix(2 * length))
        case .exchangedFrames:
            stored = Array(
                stored[length..<2 * length] + stored[..<length] + stored[(2 * length)...])
        case .turnedBit: stored[5] ^= 1
        }
        try place.put(stored, as: asset.file)
        await #expect(throws: (any Error).self) { try await self.read(asset, in: files) }
        // The rest taken for the whole is none either.
        var shorter = asset
        shorter.size = Int64(2 * Self.frame)
        await #expect(throws: (any Error).self) { try await self.read(shorter, in: files) }
    }

    @Test(
        "Files of older versions are served, and another root key opens none",
        arguments: FileStoreKind.allCases)
    func keys(_ kind: FileStoreKind) async throws {
        let place = try files(kind)
        let old = try await keep(Self.word, in: try place.open(nil))
        let new = try await keep(Self.word, in: try place.open())
        #expect(try await read(old, in: try place.open()) == Self.word)
        let other = try place.open(RootKey(Array(repeating: 9, count: RootKey.length)))
        await #expect(throws: (any Error).self) { try await self.read(new, in: other) }
        // The key of another file is none, either.
        var moved = new
        moved.key = try await keep(Self.word, in: try place.open()).key
        let (same, mixed) = (try place.open(), moved)
        await #expect(throws: (any Error).self) { try await self.read(mixed, in: same) }
    }

    @Test("ASSET-8: the store keeps a file's key, wrapped, until the file is forgotten")
    func storedKey() async throws {
        let api = try await TestAPI()
        let asset = try await api.upload(Self.word, to: "picture", of: "r1")
        _ = try await api.save(asset, as: "picture", of: "r1")
        let content = AssetContent(
            rawValue: Hex.text(Secret.hash(String(decoding: Self.word, as: UTF8.self))))
        let stored = try await api.cloud.store.read { try $0.assets([content])[content] }
        #expect(stored?.key?.isEmpty == false)
        let file = try await api.download(try await api.asset("picture", of: "r1"))
        #expect(Array(file.text.utf8) == Self.word)
    }
}
