// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore

extension StoreConformance {
    static let secrets: [Check] = [
        Check(reopening: "The secret is kept as it was put, for as long as the store lives") {
            store, engine in
            let secret = StoreSecret(
                root: .init(repeating: 0, count: StoreSecret.length),
                inherited: .init(repeating: 255, count: StoreSecret.length)
            )
            let before = try await store.read { try $0.storeSecret() }
            #expect(before == nil)
            try await store.write(.everything) { try $0.putStoreSecret(secret) }
            let kept = try await store.read { try $0.storeSecret() }
            #expect(kept == secret)
            let again = try await engine.reopen(store)
            let reopened = try await again.read { try $0.storeSecret() }
            #expect(reopened == secret)
            try await again.close()
        },
        Check("A secret is never replaced") { store in
            let secret = StoreSecret(root: .init(repeating: 1, count: StoreSecret.length))
            let other = StoreSecret(root: .init(repeating: 2, count: StoreSecret.length))
            try await store.write(.everything) { try $0.putStoreSecret(secret) }
            await #expect(throws: (any Error).self) {
                try await store.write(.everything) { try $0.putStoreSecret(other) }
            }
            let kept = try await store.read { try $0.storeSecret() }
            #expect(kept == secret)
        },
        Check("A secret whose transaction is undone was never there") { store in
            await #expect(throws: Refused()) {
                try await store.write(.everything) { transaction throws in
                    try transaction.putStoreSecret(
                        StoreSecret(root: .init(repeating: 1, count: StoreSecret.length)))
                    throw Refused()
                }
            }
            let kept = try await store.read { try $0.storeSecret() }
            #expect(kept == nil)
        },
    ]
}
