// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let pushTargets: [Check] = [
        Check("A native token is a target that starts at the head of the log") { store in
            try await store.write(.everything) { transaction throws in
                let head = try transaction.appendNotifications([.push("before")])[0].sequence
                let phone = try transaction.phone()
                try transaction.register("aa", for: phone, topic: "org.example.notes")
                let target = PushTarget(
                    key: PushTargetKey(token: "aa", device: phone.key), user: .anna,
                    clientID: "phone", apnsEnvironment: .development, topic: "org.example.notes",
                    registeredAt: .noon, delivered: head
                )
                #expect(try transaction.pushTarget(target.key, at: .noon) == target)
                // Registered again, it keeps its position.
                _ = try transaction.appendNotifications([.push("after", from: nil)])
                let later = Instant.noon.advanced(by: .seconds(60))
                try transaction.register("aa", for: phone, at: later)
                let again = try #require(try transaction.pushTarget(target.key, at: .noon))
                #expect(again.registeredAt == later && again.delivered == head)
            }
        },
        Check("A token that we issued is no target") { store in
            try await store.write(.everything) { transaction throws in
                let phone = try transaction.phone()
                let token = StoredPushToken(
                    token: "aa", apnsEnvironment: .development, courier: "c"
                )
                try transaction.putPushToken(token, notifying: phone.key)
                _ = try transaction.appendNotifications([.push("p", from: nil)])
                #expect(
                    try transaction.pushTarget(
                        PushTargetKey(token: "aa", device: phone.key), at: .noon) == nil
                )
                #expect(try transaction.queuedTokens() == [])
            }
        },
        Check("SUB-51: a native token moves to who registers it last in a container") { store in
            try await store.write(.everything) { transaction throws in
                let annas = try transaction.phone()
                let bens = try transaction.phone("pad", of: .ben)
                let elsewhere = try transaction.phone(
                    "phone", of: UserID(rawValue: 7), in: .chess
                )
                for device in [annas, elsewhere, bens] {
                    try transaction.register("aa", for: device)
                }
                func isNotified(_ device: StoredDevice) throws -> Bool {
                    try transaction.pushTarget(
                        PushTargetKey(token: "aa", device: device.key), at: .noon)
                        != nil
                }
                #expect(try isNotified(annas) == false)
                #expect(try isNotified(bens) == true)
                #expect(try isNotified(elsewhere) == true)
            }
        },
        Check("SUB-46: a target waits if somebody else's notification lies after it") {
            store in
            try await store.write(.everything) { transaction throws in
                let phone = try transaction.phone()
                let pad = try transaction.phone("pad")
                try transaction.register("aa", for: phone)
                try transaction.register("bb", for: pad)
                #expect(try transaction.queuedTokens() == [])
                let sent = try transaction.appendNotifications([.push("own", from: "phone")])
                #expect(try transaction.queuedTokens() == ["bb"])
                let key = PushTargetKey(token: "bb", device: pad.key)
                #expect(
                    try transaction.queuedDeliveries(in: .pushTargets(.notes), limit: 9)
                        == [.pushTarget(key, in: .notes)]
                )
                try transaction.movePushTargets([
                    PushTargetKey(token: "bb", device: pad.key): sent[0].sequence
                ])
                #expect(try transaction.queuedTokens() == [])
            }
        },
        Check("A target never moves back") { store in
            try await store.write(.everything) { transaction throws in
                let phone = try transaction.phone()
                try transaction.register("aa", for: phone)
                let key = PushTargetKey(token: "aa", device: phone.key)
                for position: Int64 in [5, 3] {
                    try transaction.movePushTargets([
                        key: NotificationSequence(rawValue: position),
                        PushTargetKey(token: "gone", device: phone.key): .start,
                    ])
                }
                #expect(try transaction.pushTarget(key, at: .noon)?.delivered.rawValue == 5)
            }
        },
        Check("Targets stand in the queue of their container until all is delivered to them") {
            store in
            try await store.write(.everything) { transaction throws in
                let phone = try transaction.phone()
                let pad = try transaction.phone("pad", of: .ben)
                let chess = try transaction.phone("chess", of: .ben, in: .chess)
                for (token, device) in [("aa", phone), ("bb", pad), ("cc", chess)] {
                    try transaction.register(token, for: device)
                }
                let sent = try transaction.appendNotifications([
                    .push("p", from: nil), .push("q", to: .ben, from: nil),
                    .push("r", from: nil),
                ])
                #expect(try transaction.queuedTokens() == ["aa", "bb"])
                #expect(try transaction.queuedTokens(in: .chess) == ["cc"])
                let key = PushTargetKey(token: "aa", device: phone.key)
                try transaction.movePushTargets([key: sent[0].sequence])
                #expect(try transaction.queuedTokens() == ["aa", "bb"])
                // The session of this one lasts.
                try transaction.withdrawPushTarget(key, at: .noon)
                #expect(try transaction.queuedTokens() == ["aa", "bb"])
                try transaction.movePushTargets([key: sent[2].sequence])
                #expect(try transaction.queuedTokens() == ["bb"])
            }
        },
        Check("SUB-51: what a push token no longer delivers leaves the queue") { store in
            try await store.write(.everything) { transaction throws in
                func user(_ name: String) throws -> UserID {
                    let account = try transaction.createAccount(named: name, at: .noon)
                    let user = try transaction.makeUser(
                        of: account, in: .notes, recordName: "_\(name)",
                        at: Instant(rawValue: 0)
                    )
                    return user.id
                }
                let (anna, ben) = (try user("anna"), try user("ben"))
                let phone = try transaction.phone("phone", of: anna)
                let pad = try transaction.phone("pad", of: anna)
                let bens = try transaction.phone("bens", of: ben)
                var count = 0
                func queued(
                    _ prepare: () throws -> Void, after change: () throws -> Void
                ) throws -> [[String]] {
                    try prepare()
                    count += 1
                    _ = try transaction.appendNotifications([
                        .push("\(count)", to: anna, from: nil)
                    ])
                    let before = try transaction.queuedTokens().sorted()
                    try change()
                    return [before, try transaction.queuedTokens()]
                }
                #expect(
                    try queued {
                        try transaction.register("aa", for: phone)
                    } after: {
                        // Users may be in different parts of an engine, where each gives up what is theirs.
                        try transaction.giveUp(clientID: "bens", pushToken: "aa", of: anna)
                        try transaction.register("aa", for: bens)
                    } == [["aa"], []], "another account's"
                )
                #expect(
                    try queued {
                        try transaction.register("bb", for: phone)
                    } after: {
                        try transaction.register("bb", for: pad)
                    } == [["bb"], []], "another device's"
                )
                let session = SessionID(rawValue: "s")
                #expect(
                    try queued {
                        try transaction.register("cc", for: phone, in: session)
                    } after: {
                        try transaction.register("cc", for: phone)
                        _ = try transaction.removePushToken("bb", registeredUpTo: .noon)
                    } == [["bb", "cc"], []], "of a session that is over, and dead"
                )
                #expect(
                    try queued {
                        try transaction.register("dd", for: pad)
                        _ = try transaction.removePushToken("cc", registeredUpTo: .noon)
                    } after: {
                        try transaction.giveUp(clientID: "none", pushToken: "dd", of: anna)
                    } == [["dd"], []], "given up"
                )
                #expect(
                    try queued {
                        try transaction.register("ee", for: pad)
                    } after: {
                        _ = try transaction.trimPushTokens(of: anna, to: 0)
                    } == [["ee"], []], "one too many"
                )
            }
        },
    ]
}

extension StoreConformance {
    static let pushTokenLimits: [Check] = [
        Check("H5: a token registered after its session ended begins at the head, else goes on") {
            store in
            try await store.write(.everything) { transaction throws in
                let account = try transaction.createAccount(named: "anna", at: .noon)
                let anna = try transaction.makeUser(
                    of: account, in: .notes, recordName: "_a", at: .noon)
                let device = try transaction.registerDevice(
                    clientID: "phone", user: anna.id, container: .notes, at: .noon
                )
                let tokens = [
                    StoredPushToken(
                        token: "native", apnsEnvironment: .development, courier: nil,
                        registeredAt: .noon),
                    StoredPushToken(
                        token: "page", apnsEnvironment: .development, courier: "c",
                        registeredAt: .noon),
                ]
                func register(in session: String) throws {
                    let session = SessionID(rawValue: session)
                    try transaction.putWebToken(
                        StoredWebToken(
                            account: account, expiresAt: .noon.advanced(by: .seconds(60)),
                            session: session, origin: .device),
                        hash: Array(session.rawValue.utf8)
                    )
                    for token in tokens {
                        try transaction.putPushToken(token, notifying: device.key, in: session)
                    }
                }
                /// Where the native token and the courier are.
                func positions() throws -> [NotificationSequence?] {
                    let key = PushTargetKey(token: "native", device: device.key)
                    let native = try transaction.pushTarget(key, at: .noon)
                    let courier = try transaction.pushToken(courier: "c", at: .noon)
                    return [native?.delivered, courier?.devices.first?.acknowledged]
                }
                let start = try transaction.notificationHead(of: anna.id)
                try register(in: "one")
                let old = try transaction.appendNotifications([.push("a", to: anna.id)])[0]
                #expect(try positions() == [start, start])
                // The session lasts: what waits is not lost.
                try register(in: "two")
                #expect(try positions() == [start, start])
                try transaction.removeSession(SessionID(rawValue: "two"))
                try register(in: "three")
                #expect(try positions() == [old.sequence, old.sequence])
            }
        },
        Check("A dead token goes unless it was registered after it died") { store in
            try await store.write(.everything) { transaction throws in
                let phone = try transaction.phone()
                try transaction.register("aa", for: phone)
                let before = Instant.noon.advanced(by: .seconds(-1))
                #expect(try transaction.removePushToken("aa", registeredUpTo: before) == false)
                #expect(try transaction.pushToken("aa") != nil)
                #expect(try transaction.removePushToken("aa", registeredUpTo: .noon) == true)
                #expect(try transaction.pushToken("aa") == nil)
                let key = PushTargetKey(token: "aa", device: phone.key)
                #expect(try transaction.pushTarget(key, at: .noon) == nil)
                #expect(try transaction.removePushToken("aa", registeredUpTo: .noon) == true)
            }
        },
        Check("SUB-50: beyond a limit a user's oldest push tokens go, nobody else's") { store in
            try await store.write(.everything) { transaction throws in
                let phone = try transaction.phone()
                let other = try transaction.phone("other", of: .ben)
                try transaction.register("ff", for: other)
                for (number, token) in ["aa", "bb", "cc"].enumerated() {
                    let moment = Instant.noon.advanced(by: .seconds(10 - number))
                    try transaction.register(token, for: phone, at: moment)
                }
                #expect(try transaction.trimPushTokens(of: .anna, to: 2) == 1)
                #expect(try transaction.trimPushTokens(of: .anna, to: 2) == 0)
                let left = try ["aa", "bb", "cc"].filter {
                    let key = PushTargetKey(token: $0, device: phone.key)
                    return try transaction.pushTarget(key, at: .noon) != nil
                }
                #expect(left == ["aa", "bb"])
                #expect(try transaction.pushToken("cc") == nil)
                let key = PushTargetKey(token: "ff", device: other.key)
                #expect(try transaction.pushTarget(key, at: .noon) != nil)
            }
        },
    ]
}

extension StoreTransaction {
    /// Registers a device.
    fileprivate func phone(
        _ clientID: String = "phone", of user: UserID = .anna, in container: ContainerKey = .notes
    ) throws -> StoredDevice {
        try registerDevice(clientID: clientID, user: user, container: container, at: .noon)
    }

    /// Registers a native token.
    fileprivate func register(
        _ token: String, for device: StoredDevice, topic: String? = nil, at moment: Instant = .noon,
        in session: SessionID? = nil
    ) throws {
        try putPushToken(
            StoredPushToken(
                token: token, apnsEnvironment: .development, courier: nil, topic: topic,
                registeredAt: moment
            ),
            notifying: device.key, in: session
        )
    }

    /// The tokens that stand in the queue.
    fileprivate func queuedTokens(in container: ContainerKey = .notes) throws -> [String] {
        try queuedDeliveries(in: .pushTargets(container), limit: 100).compactMap { pointer in
            guard case .pushTarget(let key, _) = pointer else { return nil }
            return key.token
        }
    }
}
