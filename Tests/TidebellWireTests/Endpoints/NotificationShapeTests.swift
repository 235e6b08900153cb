// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellWire

@Suite("Shapes of the notification history")
struct NotificationShapeTests {
    @Test("NOTIF-11: a request for changes names the token and the limit it has")
    func changesRequest() throws {
        let requests: [(FetchNotificationChanges.Request, String)] = [
            (.init(), "{}"),
            (
                .init(serverChangeToken: "t", resultsLimit: 3),
                #"{"serverChangeToken":"t","resultsLimit":3}"#
            ),
        ]
        for (request, json) in requests {
            #expect(written { request.write(to: &$0) } == json)
            let read = try JSONReader.read(utf8(json)) {
                try FetchNotificationChanges.Request(from: &$0)
            }
            #expect(read == request)
        }
    }

    @Test("NOTIF-13: a notification that was read has no payload; others carry it untouched")
    func changesResponse() throws {
        let payload = #"{"aps":{"badge":2},"ck":{"nid":"n-1"}}"#
        let response = FetchNotificationChanges.Response(
            notifications: [
                .init(notificationID: "n-1", payload: utf8(payload)),
                .init(notificationID: "n-2", payload: nil),
            ],
            serverChangeToken: "t",
            moreComing: true
        )
        let json =
            #"{"notifications":[{"notificationID":"n-1","read":false,"payload":"#
            + payload
            + #"},{"notificationID":"n-2","read":true}],"serverChangeToken":"t","moreComing":true}"#
        #expect(written { response.write(to: &$0) } == json)
        let read = try JSONReader.read(utf8(json)) {
            try FetchNotificationChanges.Response(from: &$0)
        }
        #expect(read == response)
    }

    @Test("NOTIF-13: marking answers what was marked, and why the others were not")
    func markRead() throws {
        let request = MarkNotificationsRead.Request(notificationIDs: ["n-1", "n-2"])
        let requestJSON = #"{"notificationIDs":["n-1","n-2"]}"#
        #expect(written { request.write(to: &$0) } == requestJSON)
        let readRequest = try JSONReader.read(utf8(requestJSON)) {
            try MarkNotificationsRead.Request(from: &$0)
        }
        #expect(readRequest == request)

        let response = MarkNotificationsRead.Response(
            notificationIDs: ["n-1"],
            failed: [.init(notificationID: "n-2", error: WireError(.notFound, "no such ID"))]
        )
        let json =
            #"{"notificationIDs":["n-1"],"failed":[{"notificationID":"n-2","#
            + #""reason":"no such ID","serverErrorCode":"NOT_FOUND"}]}"#
        #expect(written { response.write(to: &$0) } == json)
        let read = try JSONReader.read(utf8(json)) {
            try MarkNotificationsRead.Response(from: &$0)
        }
        #expect(read == response)
    }

    @Test("NOTIF-14: the badge is one number in both directions")
    func badge() throws {
        #expect(written { ModifyBadge(value: 7).write(to: &$0) } == #"{"value":7}"#)
        let read = try JSONReader.read(utf8(#"{"value":7}"#)) { try ModifyBadge(from: &$0) }
        #expect(read == ModifyBadge(value: 7))
    }

    @Test(
        "an answer that lacks what it is about is refused, not guessed at",
        arguments: [
            (
                #"{"notifications":[{"read":true}]}"#,
                "notifications[0]: missing required field 'notificationID'"
            ),
            (
                #"{"notifications":[{"notificationID":"n"}]}"#,
                "notifications[0]: missing required field 'payload'"
            ),
        ]
    )
    func incomplete(json: String, reason: String) {
        #expect(
            failure(reading: json) { _ = try FetchNotificationChanges.Response(from: &$0) }
                == reason
        )
    }
}
