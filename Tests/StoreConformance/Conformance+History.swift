// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore

extension StoreConformance {
    static let badges: [Check] = [
        Check(reopening: "NINFO-11, NOTIF-14: each user has a badge of their own, which stays") {
            store, engine in
            try await store.write(.everything) { transaction throws in
                #expect(try transaction.badges(of: [.anna, .ben]) == [:])
                try transaction.putBadges([.anna: 3, .ben: 0])
                try transaction.putBadges([.anna: 4])
                try transaction.putBadges([:])
                #expect(try transaction.badges(of: [.anna, .ben]) == [.anna: 4, .ben: 0])
                #expect(try transaction.badges(of: [.anna]) == [.anna: 4])
                #expect(try transaction.badges(of: []) == [:])
            }
            let reopened = try await engine.reopen(store)
            #expect(try await reopened.read { try $0.badges(of: [.anna]) } == [.anna: 4])
            try await reopened.close()
        }
    ]

    static let history: [Check] = [
        Check("NOTIF-8, NOTIF-11: the history has the user's notifications in full and in order") {
            store in
            var pruned = StoredNotification.push("b")
            pruned.fullPayload = Array(#"{"full":1}"#.utf8)
            let saved = [StoredNotification.push("a"), pruned, .push("c", to: .ben)]
            let positions = try await store.write(.everything) { try $0.appendNotifications(saved) }
                .map(\.sequence)
            try await store.read { reader throws in
                let annas = try reader.history(of: .anna)
                #expect(
                    annas == [
                        HistoryEntry(
                            position: positions[0], notificationID: "a",
                            content: .unread(payload: Array("{}".utf8))
                        ),
                        HistoryEntry(
                            position: positions[1], notificationID: "b",
                            content: .unread(payload: Array(#"{"full":1}"#.utf8))
                        ),
                    ]
                )
                #expect(try reader.history(of: .anna, limit: 1) == [annas[0]])
                #expect(try reader.history(of: .anna, after: positions[0]) == [annas[1]])
                #expect(try reader.history(of: .ben).map(\.notificationID) == ["c"])
                let log = try reader.notifications(
                    for: .anna, after: .start, excludingOrigin: nil, limit: 9
                )
                #expect(log.map(\.payload) == [Array("{}".utf8), Array("{}".utf8)])
                #expect(log.map(\.fullPayload) == [nil, saved[1].fullPayload])
            }
        },
        Check("NOTIF-13: a notification that is read leaves a mark at a new position") { store in
            try await store.write(.everything) { transaction throws in
                let log = try transaction.appendNotifications([
                    .push("a"), .push("b"), .push("c"), .push("d", to: .ben),
                ])
                let end = log[2].sequence
                #expect(
                    try transaction.notificationSequences(["a", "c", "d", "no"], of: .anna)
                        == ["a": log[0].sequence, "c": log[2].sequence]
                )
                #expect(
                    try transaction.notificationSequences(
                        ["a", "c"], of: .anna, after: log[0].sequence)
                        == ["c": log[2].sequence]
                )
                #expect(try transaction.notificationSequences([], of: .anna) == [:])
                let gone = NotificationSequence(rawValue: .max)
                try transaction.markNotificationsRead(
                    [log[0].sequence, log[2].sequence, log[3].sequence, gone], of: .anna
                )
                let head = try transaction.notificationHead(of: .anna)
                let marks = try transaction.history(of: .anna, after: end)
                #expect(marks.map(\.notificationID) == ["a", "c"])
                #expect(
                    marks.map(\.content) == [.read(isReported: false), .read(isReported: false)])
                #expect(marks.map(\.position) == marks.map(\.position).sorted())
                #expect(marks.allSatisfy { $0.position > end && $0.position <= head })
                #expect(
                    try transaction.history(of: .anna).map(\.notificationID) == ["b", "a", "c"])
                // Whoever was away still gets it.
                let pushes = try transaction.notifications(
                    for: .anna, after: .start, excludingOrigin: nil, limit: 9
                )
                #expect(pushes == Array(log.prefix(3)))
                // A second time changes nothing.
                try transaction.markNotificationsRead([log[0].sequence], of: .anna)
                #expect(try transaction.history(of: .anna, after: end) == marks)
                // The next notification comes after the marks.
                let next = try transaction.appendNotifications([.push("e")])
                #expect(next[0].sequence > head)
            }
        },
        Check("NOTIF-13: a mark that was given out is kept for those who ask for all") { store in
            try await store.write(.everything) { transaction throws in
                let log = try transaction.appendNotifications([
                    .push("a"), .push("b"), .push("c"),
                ])
                try transaction.markNotificationsRead(
                    [log[0].sequence, log[1].sequence], of: .anna)
                let marks = try transaction.history(of: .anna, after: log[2].sequence)
                try transaction.markReadMarksReported(
                    [marks[0].position, log[2].sequence], of: .anna)
                try transaction.markReadMarksReported([marks[1].position], of: .ben)
                #expect(
                    try transaction.history(of: .anna, marks: .unreported).map(\.notificationID)
                        == ["c", "b"]
                )
                let all = try transaction.history(of: .anna)
                #expect(all.map(\.notificationID) == ["c", "a", "b"])
                #expect(all[1].content == .read(isReported: true))
                #expect(all[2].content == .read(isReported: false))
                #expect(try transaction.history(of: .anna, limit: 2) == Array(all.prefix(2)))
            }
        },
        Check("NOTIF-15: a user's floor is the newest position that retention took") { store in
            let later = Instant.noon.advanced(by: .seconds(60))
            try await store.write(.everything) { transaction throws in
                let (anna, ben) = try transaction.annaAndBen()
                #expect(try transaction.notificationFloor(of: anna) == .start)
                let log = try transaction.appendNotifications([
                    .push("a", to: anna), .push("b", to: ben), .push("c", to: anna, at: later),
                ])
                #expect(try transaction.removeNotifications(createdBefore: later, limit: 1) == 1)
                #expect(try transaction.notificationFloor(of: anna) == log[0].sequence)
                #expect(try transaction.notificationFloor(of: ben) == .start)
                #expect(try transaction.removeNotifications(createdBefore: later, limit: 9) == 1)
                #expect(try transaction.removeNotifications(createdBefore: later, limit: 9) == 0)
                #expect(try transaction.notificationFloor(of: anna) == log[0].sequence)
                #expect(try transaction.notificationFloor(of: ben) == log[1].sequence)
            }
        },
        Check("PUSH-2: what was replaced cannot be read any more") { store in
            try await store.write(.everything) { transaction throws in
                let log = try transaction.appendNotifications([
                    .push("a", collapse: "c"), .push("b", collapse: "c"),
                ])
                #expect(
                    try transaction.notificationSequences(["a", "b"], of: .anna)
                        == ["b": log[1].sequence]
                )
            }
        },
    ]
}

extension StoreReader {
    /// A page of a user's history.
    fileprivate func history(
        of user: UserID, after position: NotificationSequence = .start, marks: ReadMarks = .all,
        limit: Int = 9
    ) throws -> [HistoryEntry] {
        try notificationHistory(of: user, after: position, marks: marks, limit: limit)
    }
}

extension StoreTransaction {
    /// Two users who are in the store, where the other checks only use their numbers.
    func annaAndBen() throws -> (UserID, UserID) {
        let users = try ["anna", "ben"].map { name in
            try makeUser(
                of: try createAccount(named: name, at: .noon), in: .notes, recordName: "_\(name)",
                at: .noon
            ).id
        }
        return (users[0], users[1])
    }
}
