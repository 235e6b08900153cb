// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellScheduling
import TidebellServer
import TidebellTestStores

@Suite("The first run of a cloud", .hangs)
struct FirstRunTests {
    @Test(
        "Of two servers that begin on an empty store at once, one makes the user and the API token")
    func twoServers() async throws {
        let folder = TestAPI.newFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = MeetingStore(try TestStores.open(in: folder))
        func server(_ seed: UInt64) -> Accounts {
            Accounts(store: store, time: .system, randomness: .seeded(seed))
        }
        let (first, second) = (server(1), server(2))
        // Both have seen that the store is empty before either writes.
        store.meet(2)
        async let one = first.prepareFirstRun()
        async let other = second.prepareFirstRun()
        let made = try await [one, other].compactMap(\.self)
        #expect(made.count == 1)
        #expect(try await first.names() == [Accounts.firstUser])
        #expect(
            try await first.tokens(.api).map(\.hash) == made.map { Secret.hash($0.apiToken) })
        #expect(
            try await first.sessions(of: Accounts.firstUser).map(\.id.rawValue)
                == made.map { Accounts.id(ofToken: $0.webToken) })
        try await store.close()
    }
}
