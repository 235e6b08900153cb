// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let couriers: [Check] = [
        Check("The position of the newest notifications counts what a device is given") { store in
            try await store.write(.everything) { transaction throws in
                let log = try transaction.appendNotifications([
                    .push("0"), .push("1", from: "pad"), .push("2", to: .ben), .push("3"),
                    .push("4", from: nil), .push("5", from: "pad"),
                ])
                func position(
                    newest count: Int, after start: Int? = nil, without client: String?
                ) throws -> NotificationSequence? {
                    try transaction.notificationPosition(
                        for: .anna, after: start.map { log[$0].sequence } ?? .start,
                        excludingOrigin: client, newest: count
                    )
                }
                #expect(try position(newest: 1, without: nil) == log[5].sequence)
                #expect(try position(newest: 5, without: nil) == log[0].sequence)
                #expect(try position(newest: 6, without: nil) == nil)
                #expect(try position(newest: 2, without: "pad") == log[3].sequence)
                #expect(try position(newest: 4, without: "pad") == nil)
                #expect(try position(newest: 2, after: 3, without: "pad") == nil)
            }
        }
    ]

    static let unused: [Check] = [
        Check("M5: the moment of retention moves by steps, and no clock is believed beyond") {
            store in
            let moments = try await store.write(.everything) { transaction throws in
                let first = try transaction.moveRetention(to: .day(10), byAtMost: .seconds(0))
                return [first]
                    + (try
                        ([
                            (11, 2), (200, 2), (12, 2), (14, 2), (300, 1), (0, 3), (300, 0),
                        ] as [(Int64, Int)]).map { day, days in
                            try transaction.moveRetention(
                                to: .day(day), byAtMost: .seconds(days * 24 * 3600)
                            )
                        })
            }
            // A clock that goes back is believed; the moment follows it by steps.
            let days: [Int64] = [10, 11, 13, 12, 14, 15, 0, 12]
            #expect(moments == days.map { .day($0) })
        },
        Check("M5: a store without a moment counts from when a device was seen last") { store in
            let moment = try await store.write(.everything) { transaction throws in
                _ = try transaction.registerDevice(
                    clientID: "phone", user: .anna, container: .notes, at: .day(3)
                )
                return try transaction.moveRetention(
                    to: .day(200), byAtMost: .seconds(24 * 3600)
                )
            }
            #expect(moment == .day(4))
        },
        Check("M5: a store without a moment and a device counts from its latest change") { store in
            let moments = try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                _ = try transaction.advance(database, by: 1, at: .day(3))
                return try [200, 300].map {
                    try transaction.moveRetention(
                        to: .day($0), byAtMost: .seconds(24 * 3600)
                    )
                }
            }
            #expect(moments == [.day(4), .day(5)])
        },
        Check("M5: a store in which nothing was changed counts from now") { store in
            let moment = try await store.write(.everything) { transaction throws in
                _ = try transaction.makeDatabase(.privateNotes())
                return try transaction.moveRetention(
                    to: .day(200), byAtMost: .seconds(24 * 3600)
                )
            }
            #expect(moment == .day(200))
        },
        Check("Devices not seen for long go, with the push tokens that reached nobody else") {
            store in
            try await store.write(.everything) { transaction throws in
                func register(_ client: String, day: Int64) throws -> StoredDevice {
                    try transaction.registerDevice(
                        clientID: client, user: .anna, container: .notes, at: .day(day)
                    )
                }
                let (old, used) = (try register("old", day: 0), try register("used", day: 0))
                let marked = try register("marked", day: 0)
                let recent = try register("recent", day: 5)
                let tokens = ["alone", "shared"].map {
                    StoredPushToken(token: $0, apnsEnvironment: .development, courier: "c-\($0)")
                }
                for token in tokens { try transaction.putPushToken(token, notifying: old.key) }
                try transaction.putPushToken(tokens[1], notifying: recent.key)
                #expect(try register("used", day: 3) == used)
                try transaction.markDevicesSeen([marked.key], at: .day(4))
                // Going back in time does not make a device older.
                #expect(try register("used", day: 1) == used)
                #expect(try transaction.removeDevices(unseenSince: .day(0), limit: 9) == 0)
                #expect(try transaction.removeDevices(unseenSince: .day(3), limit: 9) == 1)
                #expect(try transaction.devices(of: .anna) == [used, marked, recent])
                #expect(try transaction.pushToken("alone") == nil)
                #expect(
                    try transaction.pushToken(courier: "c-shared", at: .noon)?.devices == [recent])
                #expect(try transaction.removeDevices(unseenSince: .day(9), limit: 2) == 2)
                #expect(try transaction.devices(of: .anna) == [recent])
            }
        },
        Check("Expired web tokens go; the others stay") { store in
            try await store.write(.everything) { transaction throws in
                let account = try transaction.createAccount(named: "anna", at: .noon)
                func put(_ hash: UInt8, until day: Int64, _ origin: StoredWebToken.Origin) throws {
                    try transaction.putWebToken(
                        StoredWebToken(
                            account: account, expiresAt: .day(day),
                            session: SessionID(rawValue: "\(hash)"), origin: origin
                        ),
                        hash: [hash]
                    )
                }
                for day: Int64 in 1...4 { try put(UInt8(day), until: day, .device) }
                try put(5, until: 5, .page)
                try put(6, until: 5, .device)
                func remove() throws -> Int {
                    try transaction.removeWebTokens(
                        expiredBefore: .day(4), ofPagesBefore: .day(6), limit: 2
                    )
                }
                #expect(try remove() == 3)
                #expect(try remove() == 1)
                #expect(try remove() == 0)
                #expect(
                    try transaction.webToken(hash: .inDirectory(4))?
                        .account == account)
                #expect(
                    try transaction.webToken(hash: .inDirectory(5)) == nil
                )
                #expect(
                    try transaction.webToken(hash: .inDirectory(6))?
                        .account == account)
            }
        },
        Check("SUB-51: an account that is removed takes its devices' push tokens along") { store in
            try await store.write(.everything) { transaction throws in
                let account = try transaction.createAccount(named: "anna", at: .noon)
                let user = try transaction.makeUser(
                    of: account, in: .notes, recordName: "_a", at: Instant(rawValue: 0))
                let device = try transaction.registerDevice(
                    clientID: "page", user: user.id, container: .notes, at: .noon
                )
                let token = StoredPushToken(
                    token: "t", apnsEnvironment: .development, courier: "c"
                )
                try transaction.putPushToken(token, notifying: device.key)
                try transaction.removeAccount(account, at: Instant(rawValue: 0))
                #expect(try transaction.pushToken("t") == nil)
            }
        },
    ]
}

extension Instant {
    /// Noon of a day, counted from the first one.
    fileprivate static func day(_ number: Int64) -> Instant {
        noon.advanced(by: .seconds(number * 24 * 3600))
    }
}
