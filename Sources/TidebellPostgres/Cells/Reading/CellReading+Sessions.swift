// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL
import TidebellWire

// What is in the cell of an account: its sessions, and whether it is disabled. The directory has its name, and all about it
// that is read to sign in.
extension CellReading {
    /// The cell of a session; a text that names none is nobody's session, and is looked for in the directory.
    func cell(of session: SessionID) -> CellNumber { known(session.cell) }

    /// The cell of a web token, likewise.
    func cell(of hash: WebTokenHash) -> CellNumber { known(hash.cell) }

    /// The cells that have, or may have, sessions of an account: those from before it had a cell are in the directory.
    func cells(of account: AccountID) -> Set<CellNumber> { [.directory, known(account.cell)] }

    /// A cell that a text or a number names; the directory where there is none.
    func known(_ cell: CellNumber) -> CellNumber {
        cells.stores[cell] == nil ? .directory : cell
    }

    // MARK: Session

    func webToken(hash: WebTokenHash) throws -> StoredWebToken? {
        try reader(in: cell(of: hash)).webToken(hash: hash)
    }

    func sessions(of account: AccountID, at now: Instant, limit: Int) throws -> [StoredSession] {
        let found = try cells(of: account).sorted().flatMap {
            try reader(in: $0).sessions(of: account, at: now, limit: limit)
        }
        return Array(
            found.sorted { ($0.createdAt, $0.id.rawValue) < ($1.createdAt, $1.id.rawValue) }
                .prefix(limit))
    }

    func sessions(
        like token: StoredWebToken, at now: Instant, limit: Int
    ) throws -> [StoredSession] {
        func order(_ session: StoredSession) -> (Instant, Instant, String) {
            (session.expiresAt, session.createdAt, session.id.rawValue)
        }
        let found = try cells(of: token.account).sorted().flatMap {
            try reader(in: $0).sessions(like: token, at: now, limit: limit)
        }
        return Array(found.sorted { order($0) < order($1) }.prefix(limit))
    }

    func ancestors(of session: SessionID) throws -> Set<SessionID> {
        try reader(in: cell(of: session)).ancestors(of: session)
    }

    func end(of session: SessionID, at now: Instant) throws -> Instant? {
        try reader(in: cell(of: session)).end(of: session, at: now)
    }

    /// Which of them last, each by the cell of its session, and those of no session by whether the user's
    /// account is disabled, which the directory says. Those of a cell that is away last: there, nobody can have signed out since.
    func lasting(among accesses: Set<PushAccess>, at now: Instant) throws -> Set<PushAccess> {
        try lasting(accesses, in: { $0.session.map(cell(of:)) ?? .directory }) {
            try $0.lasting(among: $1, at: now)
        }
    }

    /// The same of sessions.
    func lastingSessions(_ sessions: Set<SessionID>, at now: Instant) throws -> Set<SessionID> {
        try lasting(sessions, in: cell(of:)) { try $0.lastingSessions($1, at: now) }
    }

    private func lasting<Key>(
        _ keys: Set<Key>, in place: (Key) -> CellNumber,
        _ read: (any SQLReading, Set<Key>) throws -> Set<Key>
    ) throws -> Set<Key> {
        try Dictionary(grouping: keys, by: place).sorted { $0.key < $1.key }
            .reduce(into: []) { all, part in
                let keys = Set(part.value)
                all.formUnion(try ifReached { try read(reader(in: part.key), keys) } ?? keys)
            }
    }

    // MARK: User

    /// The cell of an account has a row of each of its users. It may lack one that was made a moment ago, and has none
    /// of before accounts had cells.
    func user(of account: AccountID, in container: ContainerKey) throws -> StoredUser? {
        let cell = known(account.cell)
        if cell != .directory {
            let found = try reader(in: cell).user(of: account, in: container)
            if isAhead || found != nil { return found }
        }
        return try directory.user(of: account, in: container)
    }

    /// The same.
    func users(_ ids: Set<UserID>) throws -> [UserID: StoredUser] {
        var found: [UserID: StoredUser] = [:]
        for part in try each(ids, { try $0.users($1) }) { found.merge(part) { first, _ in first } }
        let missing = ids.subtracting(found.keys).filter { cells.cell(of: $0) != .directory }
        guard !missing.isEmpty, !isAhead else { return found }
        return found.merging(try directory.users(missing)) { first, _ in first }
    }
}
