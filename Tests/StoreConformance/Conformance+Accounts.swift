// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let accounts: [Check] = [
        Check("Accounts are found by name and listed alphabetically") { store in
            try await store.write(.everything) { transaction throws in
                let ben = try transaction.createAccount(named: "ben", at: .noon)
                let anna = try transaction.createAccount(named: "anna", at: .noon)
                #expect(ben != anna)
                #expect(try transaction.account(named: "ben") == ben)
                #expect(try transaction.account(named: "carl") == nil)
                #expect(try transaction.accountNames() == ["anna", "ben"])
            }
        },
        Check("A taken account name is refused with EXISTS, naming it") { store in
            try await store.write(.everything) { transaction throws in
                _ = try transaction.createAccount(named: "anna", at: .noon)
                let error = #expect(throws: WireError.self) {
                    try transaction.createAccount(named: "anna", at: .noon)
                }
                #expect(error?.code == .exists)
                #expect(error?.reason.contains("'anna'") == true)
            }
            #expect(try await store.read { try $0.accountNames() } == ["anna"])
        },
        Check("A web token gives its account, its end and its renewal") { store in
            try await store.write(.everything) { transaction throws in
                let anna = try transaction.createAccount(named: "anna", at: .noon)
                let end = Instant.noon.advanced(by: .seconds(60))
                let plain = StoredWebToken(account: anna, expiresAt: end, session: .one)
                try transaction.putWebToken(plain, hash: [1, 0, 2])
                var full = StoredWebToken(
                    account: anna, expiresAt: end, lifetime: .seconds(90),
                    endsAt: end.advanced(by: .seconds(5)), session: .two, parent: .one,
                    origin: .device, container: .notes, createdAt: .noon
                )
                try transaction.putWebToken(full, hash: [3])
                try transaction.markWebTokenRenewed(
                    hash: .inDirectory(3), at: .noon)
                full.renewedAt = .noon
                #expect(
                    try transaction.webToken(hash: .inDirectory(1, 0, 2))
                        == plain)
                #expect(
                    try transaction.webToken(hash: .inDirectory(1, 0))
                        == nil)
                #expect(
                    try transaction.webToken(hash: .inDirectory(3))
                        == full)
            }
        },
        Check("H3: a session is removed with all its tokens and those begun with it") { store in
            try await store.write(.everything) { transaction throws in
                let anna = try transaction.createAccount(named: "anna", at: .noon)
                try transaction.putFamily(of: anna)
                try transaction.removeSession(.two)
                let left = try (1...5).filter {
                    try transaction.webToken(
                        hash: .inDirectory(UInt8($0))) != nil
                }
                // The parent and the stranger.
                #expect(left == [1, 5])
            }
        },
        Check("Sessions like one are of its kind and container, the first to expire first") {
            store in
            try await store.write(.everything) { transaction throws in
                let anna = try transaction.createAccount(named: "anna", at: .noon)
                try transaction.putFamily(of: anna)
                let device = StoredWebToken(
                    account: anna, expiresAt: .noon, session: .one, origin: .device,
                    container: .notes
                )
                func like(_ change: (inout StoredWebToken) -> Void = { _ in }, limit: Int = 9)
                    throws -> [SessionID]
                {
                    var token = device
                    change(&token)
                    return try transaction.sessions(like: token, at: .noon, limit: limit)
                        .map(\.id)
                }
                #expect(try like() == [.four, .two])
                #expect(try like(limit: 1) == [.four])
                #expect(try like { $0.origin = .page } == [.three])
                #expect(try like { $0.container = nil }.isEmpty)
                #expect(
                    try like {
                        $0.origin = .operator
                        $0.container = nil
                    } == [.one])
                let later = Instant.noon.advanced(by: .seconds(60))
                #expect(
                    try transaction.sessions(like: device, at: later, limit: 9).map(\.id) == [.two])
            }
        },
        Check("A session's ancestors are known, also where one has expired; removal names all") {
            store in
            try await store.write(.everything) { transaction throws in
                let anna = try transaction.createAccount(named: "anna", at: .noon)
                try transaction.putFamily(of: anna)
                #expect(try transaction.endTokens(.session(.two), at: .noon) == 2)
                #expect(try transaction.ancestors(of: .three) == [.two, .one])
                #expect(try transaction.ancestors(of: .four).isEmpty)
                #expect(try transaction.removeSessions(begunWith: .two) == [.two, .three])
                #expect(try transaction.removeSessions(begunWith: .two).isEmpty)
            }
        },
        Check("H3: ended tokens have expired, and a session's end is known") { store in
            try await store.write(.everything) { transaction throws in
                let anna = try transaction.createAccount(named: "anna", at: .noon)
                try transaction.putFamily(of: anna)
                let later = Instant.noon.advanced(by: .seconds(90))
                #expect(try transaction.end(of: .two, at: .noon) == later)
                #expect(try transaction.end(of: .two, at: later) == nil)
                #expect(try transaction.endTokens(.session(.two), at: .noon) == 2)
                #expect(try transaction.end(of: .two, at: .noon) == nil)
                let end = Instant.noon.advanced(by: .zero - WebTokenRules.skew)
                #expect(
                    try transaction.webToken(hash: .inDirectory(2))?
                        .expiresAt == end)
                #expect(
                    try transaction.sessions(of: anna, at: .noon, limit: 9).map(\.id)
                        == [.one, .four])
                #expect(
                    try transaction.endTokens(
                        .account(anna, includingOperators: false), at: .noon) == 1)
                #expect(try transaction.sessions(of: anna, at: .noon, limit: 9).map(\.id) == [.one])
                #expect(
                    try transaction.endTokens(
                        .account(anna, includingOperators: true), at: .noon) == 1)
                #expect(try transaction.sessions(of: anna, at: .noon, limit: 9).isEmpty)
            }
        },
        Check(
            "H3: an ended session is over by a clock that is a minute behind, and nothing follows it"
        ) {
            store in
            try await store.write(.everything) { transaction throws in
                let anna = try transaction.createAccount(named: "anna", at: .noon)
                let lifetime = Duration.seconds(3600)
                let moments: [(hash: UInt8, end: Int64)] = [(1, 600), (2, -30), (3, -90)]
                for (hash, end) in moments {
                    try transaction.putWebToken(
                        StoredWebToken(
                            account: anna, expiresAt: .noon.advanced(by: .seconds(end)),
                            lifetime: lifetime, session: SessionID(rawValue: "\(hash)"),
                            origin: .device, container: .notes, createdAt: .noon),
                        hash: [hash])
                }
                // Of two that the time has ended nothing is counted.
                #expect(
                    try transaction.endTokens(
                        .account(anna, includingOperators: false), at: .noon) == 1)
                let behind = Instant.noon.advanced(by: .zero - WebTokenRules.skew)
                #expect(try transaction.sessions(of: anna, at: behind, limit: 9).isEmpty)
                for (hash, _) in moments.prefix(2) {
                    let session = SessionID(rawValue: "\(hash)")
                    #expect(try transaction.end(of: session, at: behind) == nil)
                    let token = try #require(
                        try transaction.webToken(hash: .inDirectory(hash))
                    )
                    // By whatever clock.
                    for minutes in Int64(-60)...60 {
                        let now = Instant.noon.advanced(by: .seconds(60 * minutes))
                        #expect(!WebTokenRules.isRenewalDue(of: token, at: now))
                        let next = WebTokenRules.successor(of: token, lifetime: lifetime, at: now)
                        #expect(next.expiresAt <= behind)
                    }
                }
                #expect(
                    try transaction.endTokens(
                        .account(anna, includingOperators: false), at: .noon) == 0)
            }
        },
        Check("H3: a session has what is known of all its tokens; a disabled account has no end") {
            store in
            try await store.write(.everything) { transaction throws in
                let anna = try transaction.createAccount(named: "anna", at: .noon)
                try transaction.putFamily(of: anna)
                let used = Instant.noon.advanced(by: .seconds(20))
                try transaction.noteUse(of: [
                    .web(.inDirectory(3)): used,
                    .web(.inDirectory(9)): used,
                ])
                let session = try transaction.sessions(of: anna, at: .noon, limit: 9)
                    .first { $0.id == .two }
                #expect(
                    session
                        == StoredSession(
                            id: .two, account: anna, origin: .device, container: .notes,
                            createdAt: .noon, usedAt: used,
                            expiresAt: .noon.advanced(by: .seconds(90)), parent: .one
                        ))
                try transaction.setDisabled(true, anna)
                #expect(try transaction.end(of: .two, at: .noon) == nil)
            }
        },
        Check("An account has a password, and can be disabled") { store in
            try await store.write(.everything) { transaction throws in
                let anna = try transaction.createAccount(named: "anna", at: .noon)
                try transaction.putWebToken(
                    StoredWebToken(account: anna, expiresAt: .noon, session: .one), hash: [1]
                )
                var expected = StoredSignIn(account: anna, isDisabled: false, password: nil)
                #expect(try transaction.signIn(named: "anna") == expected)
                #expect(try transaction.signIn(named: "ben") == nil)
                try transaction.setPassword("hash", of: anna)
                try transaction.setDisabled(true, anna)
                expected = StoredSignIn(account: anna, isDisabled: true, password: "hash")
                #expect(try transaction.signIn(named: "anna") == expected)
                #expect(try transaction.accounts().map(\.isDisabled) == [true])
                #expect(
                    try transaction.webToken(hash: .inDirectory(1))?
                        .isDisabled == true)
                try transaction.setDisabled(false, anna)
                #expect(try transaction.accounts().map(\.isDisabled) == [false])
            }
        },
        Check("SUB-51: a device that signs out receives nothing more, others do") { store in
            try await store.write(.everything) { transaction throws in
                let anna = try transaction.createAccount(named: "anna", at: .noon)
                let user = try transaction.makeUser(
                    of: anna, in: .notes, recordName: "_a", at: Instant(rawValue: 0))
                for clientID in ["phone", "tablet"] {
                    _ = try transaction.registerDevice(
                        clientID: clientID, user: user.id, container: .notes, at: .noon
                    )
                }
                try transaction.removeDevice(clientID: "phone", of: user.id)
                try transaction.removeDevice(clientID: "unknown", of: user.id)
                #expect(try transaction.devices(of: user.id).map(\.clientID) == ["tablet"])
            }
        },
        Check("ACCT-6: a permission is kept for each user") { store in
            try await store.write(.everything) { transaction throws in
                let anna = try transaction.createAccount(named: "anna", at: .noon)
                let notes = try transaction.makeUser(
                    of: anna, in: .notes, recordName: "_a", at: Instant(rawValue: 0)
                ).id
                let chess = try transaction.makeUser(
                    of: anna, in: .chess, recordName: "_b", at: Instant(rawValue: 0)
                ).id
                func answers() throws -> [PermissionAnswer?] {
                    try [notes, chess].map {
                        try transaction.permission(.userDiscoverability, of: $0)
                    }
                }
                #expect(try answers() == [nil, nil])
                try transaction.setPermission(.userDiscoverability, of: notes, to: .granted)
                #expect(try answers() == [.granted, nil])
                try transaction.setPermission(.userDiscoverability, of: notes, to: .denied)
                #expect(try answers() == [.denied, nil])
                try transaction.setPermission(.userDiscoverability, of: notes, to: nil)
                #expect(try answers() == [nil, nil])
            }
        },
        Check("SUB-51: a removed account loses its web tokens and devices, others nothing") {
            store in
            try await store.write(.everything) { transaction throws in
                let accounts = try ["anna", "ben"].enumerated().map { index, name in
                    let account = try transaction.createAccount(named: name, at: .noon)
                    try transaction.putWebToken(
                        StoredWebToken(
                            account: account, expiresAt: .noon.advanced(by: .seconds(60)),
                            session: SessionID(rawValue: "\(index)")
                        ),
                        hash: [UInt8(index)]
                    )
                    return account
                }
                let users = try accounts.enumerated().map { index, account in
                    let user = try transaction.makeUser(
                        of: account, in: .notes, recordName: "_\(index)", at: Instant(rawValue: 0)
                    )
                    _ = try transaction.registerDevice(
                        clientID: "phone\(index)", user: user.id, container: .notes, at: .noon
                    )
                    return user
                }
                try transaction.removeAccount(accounts[0], at: Instant(rawValue: 0))
                #expect(try transaction.accountNames() == ["ben"])
                #expect(
                    try transaction.webToken(hash: .inDirectory(0)) == nil
                )
                #expect(
                    try transaction.webToken(hash: .inDirectory(1))?
                        .account == accounts[1])
                #expect(try transaction.devices(of: users[0].id).isEmpty)
                #expect(try transaction.devices(of: users[1].id).count == 1)
                let again = try transaction.createAccount(named: "anna", at: .noon)
                #expect(again != accounts[0])
            }
        },
        Check("H5: a removed account loses its subscriptions, others nothing") { store in
            try await store.write(.everything) { transaction throws in
                let accounts = try ["anna", "ben"].map {
                    try transaction.createAccount(named: $0, at: .noon)
                }
                let users = try accounts.map {
                    try transaction.makeUser(
                        of: $0, in: .notes, recordName: "_\($0.rawValue)", at: .noon
                    ).id
                }
                let shared = try transaction.makeDatabase(.publicNotes)
                let own = try transaction.makeDatabase(.privateNotes(users[0]))
                try transaction.subscribe(
                    users[0], in: shared.id, .watching(.query, "a", type: "N"))
                try transaction.subscribe(
                    users[1], in: shared.id, .watching(.query, "b", type: "N"))
                try transaction.subscribe(users[0], in: own.id, .watching(.database, "d"))
                try transaction.removeAccount(accounts[0], at: Instant(rawValue: 0))
                #expect(try transaction.subscribers(in: shared.id, limit: 9) == [users[1]])
                #expect(try transaction.subscribers(in: own.id, limit: 9).isEmpty)
                #expect(try transaction.database(id: shared.id)?.subscriptionKinds == [.query])
                #expect(try transaction.database(id: own.id)?.subscriptionKinds == [])
            }
        },
    ]

    static let tokens: [Check] = [
        Check("ENV-6: an API token is valid for its container, or for all") { store in
            try await store.write(.everything) { transaction throws in
                for (number, container) in [(1, ContainerKey.notes), (2, nil)] {
                    try transaction.putToken(
                        StoredToken(
                            hash: [UInt8(number)], name: "t", container: container,
                            createdAt: .noon
                        ), .api
                    )
                }
                func valid(_ hash: UInt8) throws -> [Bool] {
                    try [ContainerKey.notes, .released, .chess].map {
                        try transaction.hasAPIToken(hash: [hash], for: $0, at: .noon)
                    }
                }
                #expect(try valid(1) == [true, false, false])
                #expect(try valid(2) == [true, true, true])
                #expect(try valid(3) == [false, false, false])
            }
        },
        Check("H3: tokens of each kind are listed, expire, and are removed") { store in
            try await store.write(.everything) { transaction throws in
                let end = Instant.noon.advanced(by: .seconds(60))
                for kind in TokenKind.allCases {
                    var token = StoredToken(
                        hash: [1, 2], name: "ops", container: kind == .api ? .notes : nil,
                        createdAt: .noon, expiresAt: end,
                        signIn: kind == .api
                            ? AppSignIn(
                                origins: ["https://a.example", "http://b.example"],
                                callback: "https://a.example/in", methods: [.provider])
                            : AppSignIn(),
                        task: kind == .management ? .metrics : nil
                    )
                    func isGood(at now: Instant) throws -> Bool {
                        try kind == .api
                            ? transaction.hasAPIToken(hash: [1, 2], for: .notes, at: now)
                            : transaction.token(hash: [1, 2], kind)?.isValid(at: now) ?? false
                    }
                    try transaction.putToken(token, kind)
                    #expect(try isGood(at: .noon))
                    #expect(try !isGood(at: end))
                    try transaction.noteUse(of: [.kind(kind, [1, 2]): .noon])
                    token.usedAt = .noon
                    #expect(try transaction.tokens(kind, limit: 9) == [token])
                    #expect(try transaction.tokens(kind, limit: 0).isEmpty)
                    try transaction.removeToken(hash: [1, 2], kind)
                    #expect(try transaction.tokens(kind, limit: 9).isEmpty)
                    #expect(try !isGood(at: .noon))
                }
            }
        },
        Check("An account is found by its identity, which is its own and goes with it") { store in
            try await store.write(.everything) { transaction throws in
                let first = try transaction.createAccount(named: "a", at: .noon)
                let second = try transaction.createAccount(named: "b", at: .noon)
                func identity(_ subject: String, of issuer: String = "i") -> ForeignIdentity {
                    ForeignIdentity(issuer: issuer, subject: subject)
                }
                try transaction.putIdentity(identity("x"), of: first)
                try transaction.putIdentity(identity("x", of: "j"), of: second)
                try transaction.putIdentity(identity("y"), of: second)
                #expect(try transaction.accountName(identifiedBy: identity("x")) == "a")
                #expect(try transaction.accountName(identifiedBy: identity("x", of: "j")) == "b")
                #expect(try transaction.accountName(identifiedBy: identity("y")) == "b")
                #expect(try transaction.accountName(identifiedBy: identity("X")) == nil)
                try transaction.removeAccount(second, at: .noon)
                #expect(try transaction.accountName(identifiedBy: identity("y")) == nil)
                #expect(try transaction.accountName(identifiedBy: identity("x")) == "a")
            }
        },
        Check("Server-to-server keys are found by ID, listed, replaced, and go with their account")
        {
            store in
            try await store.write(.everything) { transaction throws in
                func key(_ id: String, of account: AccountID, at now: Instant) -> StoredServerKey {
                    StoredServerKey(
                        id: id, name: "job \(id)", container: .notes, account: account,
                        tokenHash: [1, 2], publicKey: [4, 5, 6], createdAt: now)
                }
                let first = try transaction.createAccount(named: "key:b", at: .noon)
                let second = try transaction.createAccount(named: "key:a", at: .noon)
                let later = Instant.noon.advanced(by: .seconds(60))
                var keys = [key("b", of: first, at: .noon), key("a", of: second, at: later)]
                for key in keys.reversed() { try transaction.putServerKey(key) }
                #expect(try transaction.serverKeys(limit: 9) == keys)
                #expect(try transaction.serverKeys(limit: 1) == [keys[0]])
                #expect(try transaction.serverKey("a") == keys[1])
                #expect(try transaction.serverKey("c") == nil)
                keys[1].name = "another"
                try transaction.putServerKey(keys[1])
                #expect(try transaction.serverKeys(limit: 9) == keys)
                try transaction.removeAccount(first, at: later)
                #expect(try transaction.serverKey("b") == nil)
                #expect(try transaction.serverKeys(limit: 9) == [keys[1]])
            }
        },
    ]

    static let erasure: [Check] = [
        Check("M8: a user's rows go in steps, others' stay") { store in
            try await store.write(.everything) { transaction throws in
                let users = try ["anna", "ben"].map { name in
                    let account = try transaction.createAccount(named: name, at: .noon)
                    let user = try transaction.makeUser(
                        of: account, in: .notes, recordName: "_\(name)", at: .noon
                    )
                    let database = try transaction.makeDatabase(.privateNotes(user.id))
                    let zones = try transaction.zones(nil, in: database.id)
                    let notes = (1...5).map {
                        StoredRecord.note("n\($0)", at: Position(rawValue: Int64($0)))
                    }
                    try transaction.putRecords(notes, in: zones[0].key)
                    return user
                }
                let anna = users[0]
                try transaction.removeAccount(anna.account, at: .noon)
                try transaction.beginErasing(anna.account, .personal)
                #expect(
                    try transaction.removedAccounts(limit: 9) == [
                        RemovedAccount(
                            account: anna.account, name: "anna", removedAt: .noon,
                            erasure: .personal
                        )
                    ])
                var steps = 1
                while try !transaction.eraseRows(of: anna, at: .noon, limit: 2) { steps += 1 }
                #expect(steps > 3)
                #expect(
                    try transaction.erased(of: anna.account) == [
                        .records: 5, .zones: 1, .users: 1,
                    ])
                #expect(try transaction.users(of: anna.account, limit: 9).isEmpty)
                #expect(try transaction.database(.privateNotes(anna.id)) == nil)
                try transaction.endErasing(anna.account)
                #expect(try transaction.removedAccount(anna.account) == nil)
                let bens = try transaction.database(.privateNotes(users[1].id))
                let zones = try transaction.zones(nil, in: bens?.id ?? DatabaseID(rawValue: 0))
                #expect(try transaction.records(["n1", "n5"], in: zones[0].key).count == 2)
            }
        },
        Check("M8: a user who is gone and has a database becomes one of a removed account") {
            store in
            try await store.write(.everything) { transaction throws in
                let account = try transaction.createAccount(named: "anna", at: .noon)
                let anna = try transaction.makeUser(
                    of: account, in: .notes, recordName: "_anna", at: .noon
                )
                try transaction.removeAccount(account, at: .noon)
                while try !transaction.eraseRows(of: anna, at: .noon, limit: 9) {}
                try transaction.endErasing(account)
                try transaction.adoptLostDatabases(limit: 9)
                #expect(try transaction.removedAccounts(limit: 9) == [])
                let database = try transaction.makeDatabase(.privateNotes(anna.id))
                let zone = try transaction.zones(nil, in: database.id)[0].key
                var late = StoredRecord.note("late", at: 1)
                late.created.userRecordName = "_anna"
                try transaction.putRecords([late], in: zone)
                for _ in 0..<2 { try transaction.adoptLostDatabases(limit: 9) }
                let removed = try transaction.removedAccounts(limit: 9)
                #expect(removed.map(\.name) == [nil])
                let users = try transaction.users(of: removed[0].account, limit: 9)
                #expect(users.map(\.id) == [anna.id])
                #expect(users.map(\.recordName) == ["_anna"])
                let next = try transaction.createAccount(named: "ben", at: .noon)
                #expect(next != removed[0].account)
            }
        },
        Check("M8: records are found by who made them, page by page") { store in
            try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.publicNotes)
                let zone = try transaction.zones(nil, in: database.id)[0].key
                var records = (1...6).map {
                    StoredRecord.note("n\($0)", at: Position(rawValue: Int64($0)))
                }
                records[1].created.userRecordName = "_carl"
                records[4].isDeleted = true
                try transaction.putRecords(records, in: zone)
                func page(_ position: Position, limit: Int, rows: Int) throws -> [String] {
                    let page = try transaction.records(
                        createdBy: "_anna", in: zone, after: position, limit: limit,
                        lookingAt: rows
                    )
                    return page.names + [page.next.map { "\($0.rawValue)" } ?? "end"]
                }
                #expect(try page(0, limit: 2, rows: 9) == ["n1", "n3", "3"])
                #expect(try page(3, limit: 2, rows: 9) == ["n4", "n6", "6"])
                #expect(try page(6, limit: 2, rows: 9) == ["end"])
                #expect(try page(0, limit: 9, rows: 2) == ["n1", "2"])
                #expect(try page(0, limit: 9, rows: 9) == ["n1", "n3", "n4", "n6", "end"])
            }
        },
    ]

    static let users: [Check] = [
        Check("ACCT-5: an account has one user in each container and environment") { store in
            try await store.write(.everything) { transaction throws in
                let anna = try transaction.createAccount(named: "anna", at: .noon)
                #expect(try transaction.user(of: anna, in: .notes) == nil)
                let users = try [ContainerKey.notes, .released, .chess].enumerated().map {
                    try transaction.makeUser(
                        of: anna, in: $1, recordName: "_\($0)", at: Instant(rawValue: 0))
                }
                #expect(Set(users.map(\.id)).count == 3)
                #expect(users.map(\.recordName) == ["_0", "_1", "_2"])
                let again = try transaction.makeUser(
                    of: anna, in: .notes, recordName: "_other", at: Instant(rawValue: 0))
                #expect(again == users[0])
                #expect(try transaction.user(of: anna, in: .chess) == users[2])
                #expect(try transaction.user(recordName: "_2", in: .chess) == users[2])
                #expect(try transaction.user(recordName: "_2", in: .notes) == nil)
            }
        },
        Check("Users are found by ID, unknown ones left out") { store in
            try await store.write(.everything) { transaction throws in
                let users = try ["anna", "ben", "carl"].map { name in
                    try transaction.makeUser(
                        of: transaction.createAccount(named: name, at: .noon), in: .notes,
                        recordName: "_\(name)", at: Instant(rawValue: 0)
                    )
                }
                let wanted = Set(users.prefix(2).map(\.id) + [UserID(rawValue: 99)])
                let expected = [users[0].id: users[0], users[1].id: users[1]]
                #expect(try transaction.users(wanted) == expected)
                #expect(try transaction.users([]).isEmpty)
            }
        },
    ]
}

extension SessionID {
    fileprivate static let one = SessionID(rawValue: "1")
    fileprivate static let two = SessionID(rawValue: "2")
    fileprivate static let three = SessionID(rawValue: "3")
    fileprivate static let four = SessionID(rawValue: "4")
}

extension StoreTransaction {
    /// Stores an operator's token 1, a device that signed in with it and renewed its token
    /// (2 and 3), a page of that device (4), and a device with a password (5).
    fileprivate func putFamily(of account: AccountID) throws {
        func put(
            _ hash: UInt8, _ session: SessionID, _ origin: StoredWebToken.Origin,
            parent: SessionID? = nil, lifetime: Int64 = 60
        ) throws {
            try putWebToken(
                StoredWebToken(
                    account: account, expiresAt: .noon.advanced(by: .seconds(lifetime)),
                    session: session, parent: parent, origin: origin,
                    container: origin == .operator ? nil : .notes, createdAt: .noon
                ),
                hash: [hash]
            )
        }
        try put(1, .one, .operator)
        try put(2, .two, .device, parent: .one)
        try put(3, .two, .device, parent: .one, lifetime: 90)
        try put(4, .three, .page, parent: .two)
        try put(5, .four, .device)
    }
}
