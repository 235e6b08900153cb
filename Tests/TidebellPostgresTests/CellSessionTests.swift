// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore
import TidebellPostgresClient
import TidebellScheduling
import TidebellWire

@testable import StoreConformance
@testable import TidebellPostgres

@Suite("Accounts, with their sessions, in cells", .hangs)
struct CellSessionTests {
    @Test("New accounts come to the cells in turn, and their users with them")
    func places() async throws {
        let cloud = try await CellCloud()
        let people = [
            try await cloud.add("anna", 1), try await cloud.add("ben", 2),
            try await cloud.add("carl", 3), try await cloud.add("dora", 4),
        ]
        #expect(
            try cloud.counts("SELECT count(*) FROM web_token")
                == ["directory": 0, "east": 2, "west": 2])
        #expect(
            try cloud.counts("SELECT count(*) FROM account")
                == ["directory": 4, "east": 2, "west": 2])
        for (number, (user, session)) in people.enumerated() {
            #expect(user.account.cell == CellNumber(thatGave: user.id.rawValue))
            #expect(session.cell == user.account.cell)
            let digest = [UInt8].digest(UInt8(number + 1))
            let (right, wrong) = (
                user.account.cell, CellNumber(rawValue: 3 - user.account.cell.rawValue)
            )
            let found = try await cloud.store.read { reader throws in
                try [right, wrong, .directory, CellNumber(rawValue: 77)].map {
                    try reader.webToken(hash: WebTokenHash(digest: digest, in: $0))?.account
                }
            }
            #expect(found == [user.account, nil, nil, nil])
            let known = try await cloud.store.read {
                try $0.user(of: user.account, in: .notes)
            }
            #expect(known == user)
        }
        try await cloud.store.close()
    }

    @Test(
        "A cell that takes new ones gets accounts with their users, the directory among them; another one none, also while servers run"
    )
    func takingNew() async throws {
        let cloud = try await CellCloud()
        let address = try PostgresAddress(cloud.address)
        try CellDirectory.change("directory", takesNew: true, in: address)
        try CellDirectory.change("east", takesNew: false, in: address)
        // What a server knows of the directory counts for a second.
        var number: UInt8 = 0
        var places: [Set<CellNumber>] = []
        await eventually {
            places = []
            for _ in 0..<4 {
                number += 1
                guard let (user, session) = try? await cloud.add("user-\(number)", number) else {
                    continue
                }
                places.append([
                    user.account.cell, CellNumber(thatGave: user.id.rawValue), session.cell,
                ])
            }
            return !places.contains { $0.contains(CellNumber(rawValue: 1)) }
        }
        #expect(Set(places) == [[.directory], [CellNumber(rawValue: 2)]])
        try await cloud.store.close()
    }

    @Test("Sessions are listed, end and go in their cell, with what they asked the directory for")
    func ends() async throws {
        let cloud = try await CellCloud()
        let (anna, first) = try await cloud.add("anna", 1)
        let (ben, other) = try await cloud.add("ben", 2)
        let account = anna.account
        let second = try await cloud.store.write(.account(account)) { transaction throws in
            try transaction.begin(3, of: account, with: first)
            try transaction.putAwaitedUploads([
                .example(of: anna, in: first)
            ])
            return SessionID(beginningWith: .digest(3), in: account.cell)
        }
        func sessions() async throws -> [SessionID] {
            try await cloud.store.read {
                try $0.sessions(of: account, at: .noon, limit: 10).map(\.id)
            }
        }
        #expect(try await sessions() == [first, second])
        #expect(try await cloud.store.read { try $0.ancestors(of: second) } == [first])
        // A disabled user's end, and go on when that is taken back.
        for isDisabled in [true, false] {
            try await cloud.store.write(.account(account)) {
                try $0.setDisabled(isDisabled, account)
            }
            let ends = try await cloud.store.read { reader throws in
                try [first, other].map { try reader.end(of: $0, at: .noon) == nil }
            }
            #expect(ends == [isDisabled, false])
            let hash = WebTokenHash(digest: .digest(1), in: account.cell)
            #expect(
                try await cloud.store.read { try $0.webToken(hash: hash)?.isDisabled }
                    == isDisabled)
        }
        // With the one it was begun with, and what it waits for.
        try await cloud.store.write(.account(account)) { transaction throws in
            try transaction.putAwaitedUploads([
                .example(of: anna, in: second)
            ])
            #expect(try transaction.endTokens(.session(first), at: .noon) == 2)
        }
        #expect(try await sessions() == [])
        #expect(try await cloud.store.read { try $0.awaitedUpload(tokenHash: [9]) } == nil)
        try await cloud.store.write(.everything) {
            try $0.removeAccount(ben.account, at: .noon)
        }
        #expect(
            try cloud.counts(
                "SELECT count(*) FROM web_token WHERE account = \(ben.account.rawValue)")
                == ["directory": 0, "east": 0, "west": 0])
        #expect(
            try cloud.counts("SELECT count(*) FROM account WHERE id = \(ben.account.rawValue)")
                == ["directory": 0, "east": 0, "west": 0])
        try await cloud.store.close()
    }

    @Test(
        "Uses of tokens are noted in their cells, beside writes of the same accounts and without a cell that is away"
    )
    func uses() async throws {
        let cloud = try await CellCloud()
        _ = try await cloud.fill()
        let (anna, _) = try await cloud.add("anna", 1)
        let (ben, _) = try await cloud.add("ben", 2)
        let used = Instant.noon.advanced(by: .seconds(3600))
        let uses: [UsedToken: Instant] = [
            .web(WebTokenHash(digest: .digest(1), in: anna.account.cell)): used,
            .web(WebTokenHash(digest: .digest(2), in: ben.account.cell)): used,
            .kind(.api, [7]): used,
        ]
        let gate = BlockingGate()
        async let other: Void = cloud.store.write(.account(anna.account)) { _ in
            gate.reached()
            gate.waitUntilOpen()
        }
        await gate.untilReached()
        try await cloud.store.write(.uses) { try $0.noteUse(of: uses) }
        gate.open()
        try await other
        let (counts, noted) = (
            "SELECT count(*) FROM web_token WHERE used_at = \(used.rawValue)",
            try await cloud.store.read { try $0.tokens(.api, limit: 9).map(\.usedAt) }
        )
        #expect(try cloud.counts(counts) == ["directory": 0, "east": 1, "west": 1])
        #expect(noted == [used, nil])
        let later = used.advanced(by: .seconds(3600))
        try PostgresEngine.drop(cell: cloud.name(of: anna), of: cloud.address)
        try await cloud.store.write(.uses) {
            try $0.noteUse(of: uses.mapValues { _ in later })
        }
        let sessions = try await cloud.store.read {
            try $0.sessions(of: ben.account, at: .noon, limit: 1)
        }
        #expect(sessions.map(\.usedAt) == [later])
        try await cloud.store.close()
    }

    @Test("A session that ends in another cell waits for what it is writing there")
    func waits() async throws {
        let cloud = try await CellCloud()
        let (anna, session) = try await cloud.add("anna", 1)
        let key = DatabaseKey(container: .notes, scope: .private, owner: anna.id)
        let gate = BlockingGate()
        let order = Locked<[String]>([])
        async let written: Void = cloud.store.write(.database(key)) { transaction throws in
            _ = try transaction.makeDatabase(key)
            gate.reached()
            gate.waitUntilOpen()
            order.withLock { $0.append("written") }
        }
        await gate.untilReached()
        async let ended: Void = cloud.store.write(.account(anna.account)) {
            _ = try $0.endTokens(.session(session), at: .noon)
            order.withLock { $0.append("ended") }
        }
        let cell = try PostgresConnection(cloud.address(of: anna))
        defer { cell.close() }
        await eventually { Self.isWaited(for: cell) }
        gate.open()
        _ = try await (written, ended)
        #expect(order.current == ["written", "ended"])
        try await cloud.store.close()
    }

    @Test(
        "What a step of an account reads in its cell is of the moment at which the account is its own, on any node"
    )
    func locked() async throws {
        let cloud = try await CellCloud(as: NodeName("a"))
        let other = try CellCloud.open(cloud.address, as: NodeName("b"))
        let (anna, session) = try await cloud.add("anna", 1)
        let gate = BlockingGate()
        async let ended: Void = cloud.store.write(.account(anna.account)) {
            _ = try $0.endTokens(.session(session), at: .noon)
            gate.reached()
            gate.waitUntilOpen()
        }
        await gate.untilReached()
        let hash = WebTokenHash(digest: .digest(1), in: anna.account.cell)
        async let end = other.write(.account(anna.account)) {
            try $0.webToken(hash: hash)?.expiresAt
        }
        let directory = try PostgresConnection(PostgresAddress(cloud.address))
        defer { directory.close() }
        await eventually { Self.isWaited(for: directory) }
        gate.open()
        try await ended
        #expect(try await end == WebTokenRules.end(ofTokensEndedAt: .noon))
        try await other.close()
        try await cloud.store.close()
    }

    @Test("Who disables somebody is told how many sessions ended, though a step begins anew")
    func disabled() async throws {
        let cloud = try await CellCloud()
        let (anna, _) = try await cloud.add("anna", 1)
        try await cloud.store.write(.account(anna.account)) { try $0.begin(2, of: anna.account) }
        let count = try await cloud.store.write(.account(anna.account)) {
            try DisableUser.run(named: "anna", isDisabled: true, at: .noon, in: $0)
        }
        #expect(count == 2)
        try await cloud.store.close()
    }

    @Test(
        "A cell that lost the row of an account gets it with the next session, as disabled as it is"
    )
    func lostAccount() async throws {
        let cloud = try await CellCloud()
        let (anna, _) = try await cloud.add("anna", 1)
        let cell = try PostgresConnection(cloud.address(of: anna))
        defer { cell.close() }
        let hash = WebTokenHash(digest: .digest(2), in: anna.account.cell)
        for isDisabled in [false, true] {
            try await cloud.store.write(.account(anna.account)) {
                try $0.setDisabled(isDisabled, anna.account)
            }
            try cell.execute("DELETE FROM account")
            try await cloud.store.write(.account(anna.account)) {
                try $0.begin(2, of: anna.account)
            }
            let token = try await cloud.store.read { try $0.webToken(hash: hash) }
            #expect(token?.isDisabled == isDisabled)
        }
        try await cloud.store.close()
        // One that came back older.
        try cell.execute("UPDATE account SET disabled = 0")
        let again = try CellCloud.open(cloud.address)
        #expect(try await again.read { try $0.webToken(hash: hash)?.isDisabled } == true)
        try await again.close()
    }

    /// Whether somebody waits for a lock of a scope in a database.
    private static func isWaited(for connection: PostgresConnection) -> Bool {
        var waiting = 0
        _ = try? connection.rows(
            """
            SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
            WHERE NOT granted AND locktype = 'advisory' AND datname = current_database()
            """
        ) { _ in waiting += 1 }
        return waiting > 0
    }

    @Test(
        "A user whom the cell of the account lacks is brought there by the next sign-in, and counts again"
    )
    func brought() async throws {
        let cloud = try await CellCloud()
        let (anna, _) = try await cloud.add("anna", 1)
        let cell = try PostgresConnection(cloud.address(of: anna))
        defer { cell.close() }
        // As where the server was killed between the two steps.
        try cell.execute("DELETE FROM \"user\"")
        let read = try await cloud.store.read { try $0.user(of: anna.account, in: .notes) }
        #expect(read == anna)
        let joined = try await cloud.store.write(.account(anna.account)) {
            try $0.user(of: anna.account, in: .notes)
        }
        #expect(joined == anna)
        var count = 0
        try cell.rows("SELECT 1 FROM \"user\" WHERE id = $1", [.int64(anna.id.rawValue)]) { _ in
            count += 1
        }
        #expect(count == 1)
        try await cloud.store.close()
    }

    @Test("While a cell is away, nobody signs in there, and the accounts of the others go on")
    func away() async throws {
        let cloud = try await CellCloud()
        let (anna, _) = try await cloud.add("anna", 1)
        let (ben, session) = try await cloud.add("ben", 2)
        try PostgresEngine.drop(cell: cloud.name(of: anna), of: cloud.address)
        await #expect(throws: StoreUnavailable.self) {
            try await cloud.store.write(.account(anna.account)) {
                try $0.begin(3, of: anna.account)
            }
        }
        try await cloud.store.write(.account(ben.account)) { try $0.begin(4, of: ben.account) }
        let hash = WebTokenHash(digest: .digest(4), in: ben.account.cell)
        #expect(try await cloud.store.read { try $0.webToken(hash: hash)?.account } == ben.account)
        #expect(try await cloud.store.read { try $0.end(of: session, at: .noon) } != nil)
        try await cloud.store.close()
    }

}

extension AwaitedUpload {
    fileprivate static func example(of user: StoredUser, in session: SessionID) -> AwaitedUpload {
        AwaitedUpload(
            tokenHash: [9], user: user.id, session: session,
            field: AssetField(
                database: .privateNotes(user.id), zoneName: "Notes", recordName: "n",
                fieldName: "f"),
            byteLimit: 5, expiresAt: .noon.advanced(by: .seconds(60)))
    }
}
