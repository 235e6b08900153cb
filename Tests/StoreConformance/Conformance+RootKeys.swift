// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore

extension StoreConformance {
    static let rootKeys: [Check] = [
        Check("Keys are found by the root key that wraps them, page by page") { store in
            try await store.write(.everything) { transaction throws in
                try transaction.adoptRootKey("old")
                var zones: [ZoneKey] = []
                for name in ["a", "b", "c"] {
                    let zone = try transaction.makeZone(name)
                    try transaction.putFieldKey(
                        WrappedKey(Array(name.utf8)), wrappedBy: "old", of: zone.key)
                    zones.append(zone.key)
                }
                try transaction.putFieldKey(WrappedKey([9]), wrappedBy: "new", of: zones[1])
                func found(_ id: String, after zone: ZoneKey? = nil, limit: Int = 9) throws
                    -> [ZoneKey]
                {
                    try transaction.zoneKeys(wrappedBy: id, after: zone, limit: limit)
                        .map(\.zone)
                }
                #expect(try found("old") == [zones[0], zones[2]])
                #expect(try found("old", limit: 1) == [zones[0]])
                #expect(try found("old", after: zones[0]) == [zones[2]])
                #expect(try found("new") == [zones[1]])
                let key = try transaction.zoneKeys(wrappedBy: "new", after: nil, limit: 9).first
                #expect(key?.key == WrappedKey([9]))
            }
        },
        Check("Keys of files are under the store's root key until they are replaced") { store in
            try await store.write(.everything) { transaction throws in
                try transaction.adoptRootKey("old")
                for name in ["a", "b", "c"] {
                    _ = try transaction.putAsset(.sealed(name), at: .noon)
                }
                func found(_ id: String, after content: String? = nil) throws -> [String] {
                    try transaction.files(
                        wrappedBy: id, after: content.map(AssetContent.init(rawValue:)), limit: 2
                    ).map(\.content.rawValue)
                }
                #expect(try found("old") == ["a", "b"])
                #expect(try found("old", after: "b") == ["c"])
                try transaction.beginRootKeyChange(to: "new")
                #expect(try transaction.nextRootKeyID() == "new")
                let content = AssetContent(rawValue: "a")
                try transaction.putFileKeys([content: [7]], wrappedBy: "new")
                #expect(try found("old") == ["b", "c"])
                #expect(try found("new") == ["a"])
                let asset = try transaction.assets([content])[content]
                #expect(asset?.key == [7])
            }
        },
        Check("A change of the root key ends with the new one, and all files are its own") {
            store in
            try await store.write(.everything) { transaction throws in
                try transaction.adoptRootKey("old")
                _ = try transaction.putAsset(.sealed("a"), at: .noon)
                try transaction.beginRootKeyChange(to: "new")
                let content = AssetContent(rawValue: "a")
                try transaction.putFileKeys([content: [7]], wrappedBy: "new")
                try transaction.endRootKeyChange()
                #expect(try transaction.rootKeyID() == "new")
                #expect(try transaction.nextRootKeyID() == nil)
                _ = try transaction.putAsset(.sealed("b"), at: .noon)
                let files = try transaction.files(wrappedBy: "new", after: nil, limit: 9)
                #expect(files.map(\.content.rawValue) == ["a", "b"])
            }
        },
        Check("Kept answers are replaced by their numbers, in the order they were kept") { store in
            try await store.write(.everything) { transaction throws in
                for name in ["1", "2", "3"] {
                    try transaction.keepAnswer(
                        KeptAnswer(fingerprint: [1], body: Array(name.utf8)),
                        to: WriteID(user: .anna, clientID: "phone", requestID: name), at: .noon,
                        exceeding: 9999
                    )
                }
                let first = try transaction.keptAnswers(after: nil, limit: 2)
                #expect(first.map(\.write.requestID) == ["1", "2"])
                let rest = try transaction.keptAnswers(after: first.last?.number, limit: 2)
                #expect(rest.map(\.write.requestID) == ["3"])
                let other = KeptAnswer(fingerprint: KeptAnswer.noFingerprint, body: [7])
                for kept in rest { try transaction.replaceKeptAnswers([kept.number: other]) }
                let write = WriteID(user: .anna, clientID: "phone", requestID: "3")
                #expect(try transaction.keptAnswer(to: write) == other)
            }
        },
    ]
}

extension StoredAsset {
    /// A file with a wrapped key, of a content that is named only.
    fileprivate static func sealed(_ content: String) -> StoredAsset {
        StoredAsset(
            content: AssetContent(rawValue: content), file: "file-\(content)", size: 1,
            checksum: "", key: [1]
        )
    }
}
