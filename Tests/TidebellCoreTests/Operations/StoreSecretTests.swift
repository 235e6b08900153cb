// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("The store's secret")
struct StoreSecretTests {
    private static let root = (0..<32).map { UInt8($0) }
    private static let old = [UInt8](repeating: 7, count: 32)

    /// Made by another implementation of HKDF-SHA-256: what stores hold depends on them.
    private static let keys: [SecretKeyName: String] = [
        .deviceIDs: "ce53cdef9dd13f62e781b74f7fa74e3b72f2058e9d8f1fbf80dd6536737c8a18",
        .uploadReceipts: "1037376a44af1a2178a600dc440f99668d288bce6b8d3575c072ba7c9bb29558",
        .downloadLinks: "ad3f678ef48cd352bf9401acb610371fe01bb59d969a081ad089e35c257ffc4e",
        .shareURLs: "cab612888dd753b717d54f8889adb6790a6cecd6fa8613faec324e2895e40c3a",
        .sharePages: "cace69cd56688745fe353a5bc7670d40bdfc515d26b0df2ea1dc503611958c8e",
        .assetKeys: "c477791c46e6d8326564753cef4842f9acd476ecbd3c31a10e5fcc4f4265badc",
        .queryMarkers: "fd34a6bcece0c600d10006aeb16548c36c68f76bbf661bd43d1b2d3ddc4d01c6",
    ]

    @Test("makes the same key for a name in every version", arguments: SecretKeyName.allCases)
    func vectors(name: SecretKeyName) {
        #expect(Hex.text(StoreSecret(root: Self.root).key(name)) == Self.keys[name])
    }

    @Test("makes another key for every name, and for every secret")
    func differentKeys() {
        var other = Self.root
        other[31] ^= 1
        let keys = [StoreSecret(root: Self.root), StoreSecret(root: other)].flatMap { secret in
            SecretKeyName.allCases.map(secret.key)
        }
        #expect(Set(keys).count == 2 * SecretKeyName.allCases.count)
    }

    @Test("of an older store goes on making device IDs with the key it had, and nothing else")
    func inherited() {
        let secret = StoreSecret(root: Self.root, inherited: Self.old)
        #expect(SecretKeyName.allCases.filter { secret.key($0) == Self.old } == [.deviceIDs])
        for name in SecretKeyName.allCases where name != .deviceIDs {
            #expect(Hex.text(secret.key(name)) == Self.keys[name])
        }
    }

    @Test("does not stand in a log")
    func description() {
        let secret = StoreSecret(root: Self.root, inherited: Self.old)
        for text in ["\(secret)", String(reflecting: secret), "\([secret])"] {
            #expect(!text.contains("7"), "\(text)")
        }
    }

    @Test("is made once, and what is drawn later is of no use")
    func madeOnce() async throws {
        let bench = try await Bench()
        let (root, old) = (Self.root, Self.old)
        let outcomes = try await bench.store.write(.everything) { transaction in
            [
                try MakeStoreSecret.run(drawn: root, inherited: old, in: transaction),
                try MakeStoreSecret.run(drawn: old, inherited: nil, in: transaction),
            ]
        }
        let secret = StoreSecret(root: root, inherited: old)
        #expect(outcomes.map(\.secret) == [secret, secret])
        #expect(outcomes.map(\.replacesLostOne) == [false, false])
        let kept = try await bench.store.read { try $0.storeSecret() }
        #expect(kept == secret)
    }

    @Test("replaces a lost one where the store was in use", arguments: [false, true])
    func replaced(isInherited: Bool) async throws {
        let bench = try await Bench()
        let (root, old) = (Self.root, Self.old)
        let outcome = try await bench.store.write(.everything) { transaction in
            _ = try transaction.makeDatabase(
                DatabaseKey(
                    container: ContainerKey(container: "c", environment: .development),
                    scope: .public, owner: nil
                )
            )
            return try MakeStoreSecret.run(
                drawn: root, inherited: isInherited ? old : nil, in: transaction)
        }
        #expect(outcome.replacesLostOne == !isInherited)
    }
}
