// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let accounts: [Check] = [
        Check("Accounts are found by name and listed alphabetically") { store in
            try await store.write { transaction throws in
                let ben = try transaction.createAccount(named: "ben", at: .noon)
                let anna = try transaction.createAccount(named: "anna", at: .noon)
                #expect(ben != anna)
                #expect(try transaction.account(named: "ben") == ben)
                #expect(try transaction.account(named: "carl") == nil)
                #expect(try transaction.accountNames() == ["anna", "ben"])
            }
        },
        Check("A taken account name is refused with EXISTS, naming it") { store in
            try await store.write { transaction throws in
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
            try await store.write { transaction throws in
                let anna = try transaction.createAccount(named: "anna", at: .noon)
                let end = Instant.noon.advanced(by: .seconds(60))
                try transaction.putWebToken(
                    hash: [1, 0, 2], account: anna, expiresAt: end, lifetime: nil
                )
                try transaction.putWebToken(
                    hash: [3], account: anna, expiresAt: end, lifetime: .seconds(90),
                    endsAt: end.advanced(by: .seconds(5))
                )
                try transaction.markWebTokenRenewed(hash: [3], at: .noon)
                var expected = StoredWebToken(account: anna, expiresAt: end)
                #expect(try transaction.webToken(hash: [1, 0, 2]) == expected)
                #expect(try transaction.webToken(hash: [1, 0]) == nil)
                expected.lifetime = .seconds(90)
                expected.renewedAt = .noon
                expected.endsAt = end.advanced(by: .seconds(5))
                #expect(try transaction.webToken(hash: [3]) == expected)
                try transaction.removeWebToken(hash: [3])
                #expect(try transaction.webToken(hash: [3]) == nil)
                #expect(try transaction.webToken(hash: [1, 0, 2]) != nil)
            }
        },
        Check("An account has a password, and can be disabled") { store in
            try await store.write { transaction throws in
                let anna = try transaction.createAccount(named: "anna", at: .noon)
                try transaction.putWebToken(
                    hash: [1], account: anna, expiresAt: .noon, lifetime: nil
                )
                var expected = StoredSignIn(account: anna, isDisabled: false, password: nil)
                #expect(try transaction.signIn(named: "anna") == expected)
                #expect(try transaction.signIn(named: "ben") == nil)
                try transaction.setPassword("hash", of: anna)
                try transaction.setDisabled(true, anna)
                expected = StoredSignIn(account: anna, isDisabled: true, password: "hash")
                #expect(try transaction.signIn(named: "anna") == expected)
                #expect(try transaction.disabledAccountNames() == ["anna"])
                #expect(try transaction.webToken(hash: [1])?.isDisabled == true)
                try transaction.setDisabled(false, anna)
                #expect(try transaction.disabledAccountNames().isEmpty)
            }
        },
        Check("SUB-51: a device that signs out is told nothing more, others are") { store in
            try await store.write { transaction throws in
                let anna = try transaction.createAccount(named: "anna", at: .noon)
                let user = try transaction.makeUser(of: anna, in: .notes, recordName: "_a")
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
            try await store.write { transaction throws in
                let anna = try transaction.createAccount(named: "anna", at: .noon)
                let notes = try transaction.makeUser(of: anna, in: .notes, recordName: "_a").id
                let chess = try transaction.makeUser(of: anna, in: .chess, recordName: "_b").id
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
            try await store.write { transaction throws in
                let accounts = try ["anna", "ben"].enumerated().map { index, name in
                    let account = try transaction.createAccount(named: name, at: .noon)
                    try transaction.putWebToken(
                        hash: [UInt8(index)], account: account,
                        expiresAt: .noon.advanced(by: .seconds(60)), lifetime: nil
                    )
                    return account
                }
                let users = try accounts.enumerated().map { index, account in
                    let user = try transaction.makeUser(
                        of: account, in: .notes, recordName: "_\(index)"
                    )
                    _ = try transaction.registerDevice(
                        clientID: "phone\(index)", user: user.id, container: .notes, at: .noon
                    )
                    return user
                }
                try transaction.removeAccount(accounts[0])
                #expect(try transaction.accountNames() == ["ben"])
                #expect(try transaction.webToken(hash: [0]) == nil)
                #expect(try transaction.webToken(hash: [1])?.account == accounts[1])
                #expect(try transaction.devices(of: users[0].id).isEmpty)
                #expect(try transaction.devices(of: users[1].id).count == 1)
                let again = try transaction.createAccount(named: "anna", at: .noon)
                #expect(again != accounts[0])
            }
        },
        Check("ENV-6: an API token is valid for its container, or for all") { store in
            try await store.write { transaction throws in
                try transaction.putAPIToken(hash: [1], name: "one", container: .notes, at: .noon)
                try transaction.putAPIToken(hash: [2], name: "all", container: nil, at: .noon)
                func valid(_ hash: UInt8) throws -> [Bool] {
                    try [ContainerKey.notes, .released, .chess].map {
                        try transaction.hasAPIToken(hash: [hash], for: $0)
                    }
                }
                #expect(try valid(1) == [true, false, false])
                #expect(try valid(2) == [true, true, true])
                #expect(try valid(3) == [false, false, false])
            }
        },
    ]

    static let users: [Check] = [
        Check("ACCT-5: an account has one user in each container and environment") { store in
            try await store.write { transaction throws in
                let anna = try transaction.createAccount(named: "anna", at: .noon)
                #expect(try transaction.user(of: anna, in: .notes) == nil)
                let users = try [ContainerKey.notes, .released, .chess].enumerated().map {
                    try transaction.makeUser(of: anna, in: $1, recordName: "_\($0)")
                }
                #expect(Set(users.map(\.id)).count == 3)
                #expect(users.map(\.recordName) == ["_0", "_1", "_2"])
                let again = try transaction.makeUser(of: anna, in: .notes, recordName: "_other")
                #expect(again == users[0])
                #expect(try transaction.user(of: anna, in: .chess) == users[2])
                #expect(try transaction.user(recordName: "_2", in: .chess) == users[2])
                #expect(try transaction.user(recordName: "_2", in: .notes) == nil)
            }
        },
        Check("Users are found by ID, unknown ones left out") { store in
            try await store.write { transaction throws in
                let users = try ["anna", "ben", "carl"].map { name in
                    try transaction.makeUser(
                        of: transaction.createAccount(named: name, at: .noon), in: .notes,
                        recordName: "_\(name)"
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
