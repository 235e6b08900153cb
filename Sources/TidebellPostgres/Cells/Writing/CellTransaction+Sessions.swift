// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL
import TidebellWire

// What is in the cell of an account. Uploads that were asked for in its sessions are in the directory.
extension CellTransaction {
    // MARK: Account

    /// The number of a new account says in which cell its sessions are, and its users where that cell takes new ones.
    func createAccount(named name: String, at now: Instant) throws -> AccountID {
        let cell = cells.map.nextCell()
        let account = try write(in: .directory) {
            try $0.createAccount(
                named: name, at: now, numberedFrom: cell == .directory ? nil : cell.start)
        }
        if cell != .directory {
            try write(in: cell) { try $0.putAccountCopy(account, isDisabled: false, at: now) }
        }
        return account
    }

    func setDisabled(_ isDisabled: Bool, _ account: AccountID) throws {
        for cell in cells(of: account).sorted() {
            try write(in: cell) { try $0.setDisabled(isDisabled, account) }
        }
    }

    // MARK: Session

    /// With the row of the account, which the cell may have lost, or have as it was long ago.
    func putWebToken(_ token: StoredWebToken, hash: [UInt8]) throws {
        let cell = cell(of: token.session)
        let isDisabled = cell == .directory ? nil : try directory.isDisabled(token.account)
        try write(in: cell) {
            if let isDisabled {
                try $0.putAccountCopy(
                    token.account, isDisabled: isDisabled, at: token.createdAt)
            }
            try $0.putWebToken(token, hash: hash)
        }
    }

    func markWebTokenRenewed(hash: WebTokenHash, at now: Instant) throws {
        try write(in: cell(of: hash)) { try $0.markWebTokenRenewed(hash: hash, at: now) }
    }

    func noteUse(of tokens: [UsedToken: Instant]) throws {
        let byCell = Dictionary(grouping: tokens) { token, _ in
            switch token {
            case .web(let hash): cell(of: hash)
            case .kind: CellNumber.directory
            }
        }
        for (cell, part) in byCell.sorted(by: { $0.key < $1.key }) {
            let part = Dictionary(uniqueKeysWithValues: part.map { ($0.key, $0.value) })
            // Those of a cell that is away are lost: nobody is asked there either.
            try ifReached {
                try write(in: cell) { try $0.noteUse(of: part) }
                try commit(in: cell)
            }
        }
    }

    func endTokens(_ tokens: EndedTokens, at now: Instant) throws -> Int {
        let places: Set<CellNumber> =
            switch tokens {
            case .session(let session): [cell(of: session)]
            case .account(let account, includingOperators: _): cells(of: account)
            }
        return try places.sorted().reduce(0) { count, cell in
            let ended = try write(in: cell) { try $0.ending(tokens, at: now) }
            try removeUploads(ofSessions: ended.sessions, in: cell)
            return count + ended.count
        }
    }

    func removeSessions(begunWith session: SessionID) throws -> Set<SessionID> {
        let cell = cell(of: session)
        let ended = try write(in: cell) { try $0.removeSessions(begunWith: session) }
        try removeUploads(ofSessions: ended, in: cell)
        return ended
    }

    func removeWebTokens(
        expiredBefore moment: Instant, ofPagesBefore pageMoment: Instant, limit: Int
    ) throws -> Int {
        try removeEverywhere(limit: limit) {
            try $0.removeWebTokens(expiredBefore: moment, ofPagesBefore: pageMoment, limit: $1)
        }
    }

    /// Forgets in the directory what was asked for in sessions of another cell.
    private func removeUploads(ofSessions sessions: Set<SessionID>, in cell: CellNumber) throws {
        guard cell != .directory else { return }
        try write(in: .directory) { try $0.removeAwaitedUploads(ofSessions: sessions) }
    }
}
