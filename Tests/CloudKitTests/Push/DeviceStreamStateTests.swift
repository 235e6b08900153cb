// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

@Suite struct DeviceStreamStateTests {
    /// What happens to a device's stream.
    enum Event: Sendable {
        case connect(String)
        /// The cursor of another user was loaded.
        case loaded(String, cursor: String?)
        case bytes(String)
        case handled(String?)
        case silence
        case end(CKError.Code, retryAfter: Double? = nil)
        case acknowledge(String)
        case acknowledged(String, by: String)

        static func ready(_ cursor: String) -> Event {
            .bytes(RemoteNotificationTests.ready(cursor))
        }

        static func push(_ cursor: String) -> Event { .bytes("id: \(cursor)\ndata: {}\n\n") }
    }

    /// A story, as what happens and what is done about it.
    struct Story: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var acknowledges = true
        /// The cursor that an earlier process kept.
        var cursor: String?
        var steps: [(Event, String)]

        init(
            _ name: String, acknowledges: Bool = true, cursor: String? = nil,
            _ steps: [(Event, String)]
        ) {
            testDescription = name
            self.acknowledges = acknowledges
            self.cursor = cursor
            self.steps = steps
        }
    }

    static let stories = [
        Story(
            "PUSH-13: a push is handed over once, and its cursor kept after it",
            [
                (.connect("anna"), "open"), (.ready("10"), "begin, keep 10"),
                (.push("11"), "hand over 11"), (.handled("11"), "keep 11"),
                (.push("11"), "acknowledge"), (.bytes("id: 12\nda"), ""),
                (.bytes("ta: {}\n\n"), "hand over 12"), (.handled("12"), "keep 12"),
            ]
        ),
        Story(
            "A connection begins behind the last push that was handled",
            cursor: "10",
            [
                (.connect("anna"), "open after 10"), (.ready("10"), "begin"),
                (.push("11"), "hand over 11"), (.handled("11"), "keep 11"),
                (.push("12"), "hand over 12"), (.end(.networkFailure), "reconnect in 0.05 s"),
                (.connect("anna"), "open after 11"), (.ready("11"), "begin"),
                (.push("11"), "acknowledge"), (.push("12"), "hand over 12"),
            ]
        ),
        Story(
            "Half an event of a connection is not continued by the next one",
            cursor: "10",
            [
                (.connect("anna"), "open after 10"), (.bytes("id: 11\n"), ""),
                (.connect("anna"), "open after 10"), (.push("12"), "hand over 12"),
            ]
        ),
        Story(
            "A log that begins elsewhere is another one, with IDs of its own",
            [
                (.connect("anna"), "open"), (.ready("10"), "begin, keep 10"),
                (.push("11"), "hand over 11"), (.handled("11"), "keep 11"),
                (.connect("anna"), "open after 11"), (.ready("0"), "begin, keep 0"),
                (.push("11"), "hand over 11"),
            ]
        ),
        Story(
            "A push without an ID is handed over, and moves nothing",
            [
                (.connect("anna"), "open"), (.ready("10"), "begin, keep 10"),
                (.bytes("data: {}\n\n"), "hand over nil"), (.handled(nil), ""),
                (.connect("anna"), "open after 10"),
            ]
        ),
        Story(
            "Events of later versions are passed over",
            [(.connect("anna"), "open"), (.bytes("event: later\nid: 9\ndata: {}\n\n"), "")]
        ),
        Story(
            "SUB-51: another user's log has a cursor, IDs and acknowledgements of its own",
            cursor: "10",
            [
                (.connect("anna"), "open after 10"), (.push("11"), "hand over 11"),
                (.handled("11"), "keep 11"), (.connect("ben"), "load cursor"),
                (.loaded("ben", cursor: "3"), ""), (.push("11"), "hand over 11"),
                (.handled("11"), "keep 11"), (.acknowledge("anna"), ""),
                (.acknowledged("11", by: "anna"), ""), (.acknowledge("ben"), "acknowledge 11"),
                (.connect("ben"), "open after 11"), (.connect("anna"), "load cursor"),
            ]
        ),
        Story(
            "The server learns once how far the app came",
            [
                (.connect("anna"), "open"), (.acknowledge("anna"), ""),
                (.ready("10"), "begin, keep 10"), (.acknowledge("anna"), ""),
                (.push("11"), "hand over 11"), (.acknowledge("anna"), ""),
                (.handled("11"), "keep 11"), (.acknowledge("anna"), "acknowledge 11"),
                (.acknowledge("anna"), "acknowledge 11"),
                (.acknowledged("11", by: "anna"), ""), (.acknowledge("anna"), ""),
            ]
        ),
        Story(
            "Sync engines acknowledge nothing",
            acknowledges: false, cursor: "10",
            [
                (.connect("anna"), "open after 10"), (.push("11"), "hand over 11"),
                (.handled("11"), "keep 11"), (.acknowledge("anna"), ""),
            ]
        ),
        Story(
            "Three looks in silence end a connection; a heart-beat begins them anew",
            [
                (.connect("anna"), "open"), (.silence, ""), (.silence, ""), (.bytes(": \n\n"), ""),
                (.silence, ""), (.silence, ""), (.silence, ""), (.silence, "lost"),
                (.connect("anna"), "open"), (.silence, ""), (.silence, ""), (.silence, "lost"),
            ]
        ),
        Story(
            "Silence does not count while the app handles a push",
            [
                (.connect("anna"), "open"), (.push("11"), "hand over 11"), (.silence, ""),
                (.silence, ""), (.silence, ""), (.silence, ""), (.handled("11"), "keep 11"),
                (.silence, ""), (.silence, ""), (.silence, "lost"),
            ]
        ),
        Story(
            "A first connection that fails is the app's to decide about",
            [(.connect("anna"), "open"), (.end(.networkUnavailable), "give up")]
        ),
        Story(
            "After a success only a refusal of the device ends the registration",
            [
                (.connect("anna"), "open"), (.ready("10"), "begin, keep 10"),
                (.end(.networkFailure), "reconnect in 0.05 s"),
                (.end(.serviceUnavailable, retryAfter: 7), "reconnect in 7.0 s"),
                (.end(.notAuthenticated), "give up"), (.end(.permissionFailure), "give up"),
                (.end(.badContainer), "give up"),
                (.end(.accountTemporarilyUnavailable), "give up"),
            ]
        ),
        Story(
            "Waits grow until a connection brings more than its beginning",
            [
                (.connect("anna"), "open"), (.ready("10"), "begin, keep 10"),
                (.end(.networkFailure), "reconnect in 0.05 s"),
                (.connect("anna"), "open after 10"), (.ready("10"), "begin"),
                (.end(.networkFailure), "reconnect in 0.1 s"),
                (.connect("anna"), "open after 10"), (.ready("10"), "begin"),
                (.bytes(": \n\n"), ""), (.end(.networkFailure), "reconnect in 0.05 s"),
            ]
        ),
    ]

    @Test(arguments: stories)
    func story(_ story: Story) throws {
        var state = DeviceStreamState(
            of: "iCloud.notes", acknowledges: story.acknowledges, as: Self.pin("anna"),
            at: story.cursor
        )
        for (number, (event, reaction)) in story.steps.enumerated() {
            let done = try Self.react(to: event, &state)
            #expect(done == reaction, "step \(number + 1): \(event)")
        }
    }

    @Test("PUSH-13, NOTIF-15: a gap is one push, which asks to fetch, with the gap's cursor")
    func gap() throws {
        var state = DeviceStreamState(
            of: "iCloud.notes", acknowledges: true, as: Self.pin("anna"), at: nil
        )
        let id = try #require(UUID(uuidString: "11111111-2222-3333-4444-555555555555"))
        let event = try state.receive(Array("event: gap\nid: 40\ndata: {}\n\n".utf8))[0]
        guard case .handOver(let payload, "40") = state.take(event, newID: id) else {
            Issue.record("the gap was not handed over")
            return
        }
        let userInfo = try #require(NotificationReceiver.userInfo(payload))
        let notification = try #require(
            CKNotification(fromRemoteNotificationDictionary: userInfo) as? CKDatabaseNotification
        )
        #expect(notification.containerIdentifier == "iCloud.notes")
        #expect(notification.databaseScope == .private)
        #expect(notification.isPruned)
        #expect(notification.notificationID?.rawValue == id.uuidString.lowercased())
    }

    private static func pin(_ user: String) -> AccountPin {
        AccountPin(account: DeviceAccount(server: "http://s", user: user, isRecordName: true))
    }

    /// Lets an event happen; returns what is done about it, nothing as an empty text.
    private static func react(to event: Event, _ state: inout DeviceStreamState) throws -> String {
        switch event {
        case .connect(let user):
            switch state.connect(as: pin(user)) {
            case .open(let cursor): return "open" + (cursor.map { " after \($0)" } ?? "")
            case .loadCursor: return "load cursor"
            }
        case .loaded(let user, let cursor): state.connect(as: pin(user), at: cursor)
        case .bytes(let text):
            return try state.receive(Array(text.utf8))
                .map { Self.text(state.take($0, newID: UUID())) }.joined(separator: ", ")
        case .handled(let id): return state.handled(id).map { "keep \($0)" } ?? ""
        case .silence: return state.isLost() ? "lost" : ""
        case .end(let code, let retryAfter):
            switch state.end(SyncScheduleTests.error(code, retryAfter: retryAfter), jitter: 0) {
            case .giveUp: return "give up"
            case .reconnect(let delay): return "reconnect in \(delay.seconds) s"
            }
        case .acknowledge(let user):
            return state.cursorToAcknowledge(as: pin(user)).map { "acknowledge \($0)" } ?? ""
        case .acknowledged(let cursor, let user):
            state.wasAcknowledged(cursor, as: pin(user))
        }
        return ""
    }

    private static func text(_ reaction: DeviceStreamState.Reaction) -> String {
        switch reaction {
        case .none: ""
        case .begin(let cursor): "begin" + (cursor.map { ", keep \($0)" } ?? "")
        case .handOver(_, let id): "hand over \(id ?? "nil")"
        case .acknowledge: "acknowledge"
        }
    }
}
