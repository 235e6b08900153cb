// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellCore
import TidebellWire

@testable import TidebellSQL
@testable import TidebellSQLite

@Suite("Commits after which listeners are looked at")
struct EndedAccessTests {
    @Test("H5: are those that ended something, not those that found nothing to end")
    func flags() async throws {
        let path = SQLiteEngine.newPath()
        defer {
            try? FileManager.default.removeItem(
                at: URL(fileURLWithPath: path).deletingLastPathComponent())
        }
        let store = try SQLiteStore.open(at: path)
        let noon = Instant(rawValue: 1_800_000_000_000)
        let session = SessionID(rawValue: "one")
        func endsAccess(
            _ body: @escaping @Sendable (SQLTransaction) throws -> Void
        ) async throws -> Bool {
            try await store.write(.everything) { transaction in
                let transaction = try #require(transaction as? SQLTransaction)
                try body(transaction)
                return transaction.hasEndedAccess
            }
        }
        let begin: @Sendable (SQLTransaction) throws -> Void = { transaction in
            let account =
                try transaction.account(named: "anna")
                ?? transaction.createAccount(named: "anna", at: noon)
            try transaction.putWebToken(
                StoredWebToken(
                    account: account, expiresAt: noon.advanced(by: .seconds(60)), session: session,
                    origin: .device),
                hash: [1]
            )
        }
        #expect(try await !endsAccess { try $0.removeSession(session) })
        #expect(try await !endsAccess { _ = try $0.endTokens(.session(session), at: noon) })
        #expect(try await !endsAccess(begin))
        #expect(try await endsAccess { _ = try $0.endTokens(.session(session), at: noon) })
        #expect(try await !endsAccess { _ = try $0.endTokens(.session(session), at: noon) })
        #expect(try await !endsAccess(begin))
        #expect(try await endsAccess { try $0.removeSession(session) })
        #expect(try await !endsAccess { try $0.removeSession(session) })
        try await store.close()
    }
}
