// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("Where a session is kept, as its token and its ID say it")
struct CellNumberTests {
    private static let secret = String(repeating: "5a", count: 32)

    @Test(
        "A web token names its cell in four hexadecimal digits behind its secret",
        arguments: [
            ("", 0, secret), ("0001", 1, secret), ("07ff", 2047, secret), ("07FF", 2047, secret),
            // What is no cell is a part of what is hashed.
            ("0000", 0, secret + "0000"), ("001", 0, secret + "001"),
            ("00001", 0, secret + "00001"),
            ("00g1", 0, secret + "00g1"), ("é1", 0, secret + "é1"),
        ])
    func token(digits: String, cell: Int, hashed: String) {
        let hash = WebTokenHash(of: Self.secret + digits) { Array($0.utf8) }
        #expect(hash == WebTokenHash(digest: Array(hashed.utf8), in: CellNumber(rawValue: cell)))
    }

    @Test("The ID of a session begins like the hash of its token, and ends with its cell")
    func session() {
        let digest = Array(UInt8(0)..<32)
        let cells = [0, 1, 300, CellNumber.limit - 1].map { CellNumber(rawValue: $0) }
        let sessions = cells.map { SessionID(beginningWith: digest, in: $0) }
        #expect(
            sessions.map(\.rawValue) == [
                "0001020304050607", "00010203040506070001", "0001020304050607012c",
                "000102030405060707ff",
            ])
        #expect(sessions.map(\.cell) == cells)
        #expect(SessionID(rawValue: "somebody's").cell == .directory)
    }

    @Test("An account's cell is the one that gave its number")
    func account() {
        let cell = CellNumber(rawValue: 3)
        #expect(AccountID(rawValue: cell.start + 7).cell == cell)
        #expect(AccountID(rawValue: 7).cell == .directory)
        #expect(AccountID(rawValue: -7).cell == .directory)
    }
}
