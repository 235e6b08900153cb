// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellHTTP
import TidebellWire
import TidebellPush
import TidebellServer

@Suite("notifications/changes, markRead, badge")
struct NotificationsTests {
    /// A cloud whose user was notified of a change in each of these zones.
    private func api(zones: [String], limits: Limits = Limits()) async throws -> TestAPI {
        let api = try await TestAPI(limits: limits)
        // Notifications are made for users who have a device.
        _ = try await api.send(
            "POST", api.target(under: "device", "tokens/create") + "&clientId=listener",
            #"{"apnsEnvironment":"development"}"#
        )
        for zone in zones {
            try await api.makeZone(zone)
            try await api.subscribe(to: zone)
        }
        _ = try await api.cloud.pipeline.drain()
        for zone in zones {
            try await api.save("note", in: zone)
            _ = try await api.cloud.pipeline.drain()
        }
        return api
    }

    @Test("NOTIF-11, PUSH-8: the history has every push, whichever device made the change")
    func wholeHistory() async throws {
        let api = try await api(zones: ["A", "B"])
        let answer = try await api.changes(from: "writer")
        #expect(answer.notifications.count == 2)
        #expect(!answer.moreComing)
        for (entry, zone) in zip(answer.notifications, ["A", "B"]) {
            let text = String(decoding: entry.payload ?? [], as: UTF8.self)
            #expect(text.hasPrefix(#"{"aps":{"content-available":1},"ck":{"#))
            #expect(text.contains(#""nid":"\#(entry.notificationID)""#))
            #expect(text.contains(#""zid":"\#(zone)""#))
        }
        let rest = try await api.changes(after: answer.serverChangeToken)
        #expect(rest.notifications == [])
        #expect(!rest.moreComing)
    }

    @Test("NOTIF-11: pages of any size join to the whole, none twice", arguments: [1, 2, 3, 4])
    func pages(size: Int) async throws {
        let api = try await api(zones: ["A", "B", "C"])
        let whole = try await api.changes()
        var pages: [FetchNotificationChanges.Entry] = []
        var token: String?
        while true {
            let page = try await api.changes(after: token, limit: size)
            #expect(page.notifications.count <= size)
            pages += page.notifications
            token = page.serverChangeToken
            if !page.moreComing { break }
        }
        #expect(pages == whole.notifications)
    }

    @Test("NOTIF-11: a page is bounded, whatever is asked for")
    func bounded() async throws {
        var limits = Limits()
        limits.notificationsPerPage = 2
        let api = try await api(zones: ["A", "B", "C"], limits: limits)
        for limit in [nil, 0, 2, 1000] {
            let page = try await api.changes(limit: limit)
            #expect(page.notifications.count == 2)
            #expect(page.moreComing)
        }
        let refused = try await api.notifications("changes", #"{"resultsLimit":-1}"#)
        #expect(
            refused.error
                == .badRequest("resultsLimit is -1; it must not be negative")
        )
    }

    @Test("NOTIF-13, PUSH-9: a read one comes once more as a mark to each token, then is gone")
    func readMarks() async throws {
        let api = try await api(zones: ["A", "B"])
        let phone = try await api.changes()
        let pad = try await api.changes()
        let id = phone.notifications[0].notificationID
        let marked = try await api.notifications("markRead", #"{"notificationIDs":["\#(id)"]}"#)
        #expect(
            marked.withoutHeaders
                == TestAPI.Answer(status: 200, text: #"{"notificationIDs":["\#(id)"]}"#)
        )
        let mark = FetchNotificationChanges.Entry(notificationID: id, payload: nil)
        for token in [phone.serverChangeToken, pad.serverChangeToken] {
            let page = try await api.changes(after: token)
            #expect(page.notifications == [mark])
            #expect(try await api.changes(after: page.serverChangeToken).notifications == [])
        }
        // Nobody without a token waits for it any more.
        #expect(try await api.changes().notifications == [phone.notifications[1]])
    }

    @Test("NOTIF-13: a client that always fetches without a token gets the mark once")
    func readMarksWithoutToken() async throws {
        let api = try await api(zones: ["A", "B"])
        let both = try await api.changes().notifications
        let id = both[0].notificationID
        _ = try await api.notifications("markRead", #"{"notificationIDs":["\#(id)"]}"#)
        let mark = FetchNotificationChanges.Entry(notificationID: id, payload: nil)
        #expect(try await api.changes().notifications == [both[1], mark])
        #expect(try await api.changes().notifications == [both[1]])
        // Marking again changes nothing.
        _ = try await api.notifications("markRead", #"{"notificationIDs":["\#(id)"]}"#)
        #expect(try await api.changes().notifications == [both[1]])
    }

    @Test("NOTIF-13: an ID that is not the user's fails alone")
    func unknownID() async throws {
        let api = try await api(zones: ["A"])
        let id = try await api.changes().notifications[0].notificationID
        let other = try await api.cloud.accounts.add(named: "other")
        let stolen = try await api.notifications(
            "markRead", #"{"notificationIDs":["\#(id)"]}"#, webToken: other)
        let response = try JSONReader.read(Array(stolen.text.utf8)) {
            try MarkNotificationsRead.Response(from: &$0)
        }
        #expect(response.notificationIDs == [])
        #expect(response.failed.map(\.notificationID) == [id])
        #expect(response.failed.map(\.error.code) == [.notFound])
        let mixed = try await api.notifications(
            "markRead", #"{"notificationIDs":["no","\#(id)"]}"#)
        #expect(mixed.text.hasPrefix(#"{"notificationIDs":["\#(id)"],"failed":[{"#))
        #expect(
            mixed.text.contains("notification 'no' is not in the user's history"))
        #expect(try await api.changes(webToken: other).notifications == [])
    }

    @Test("NOTIF-12, T-17: a token of another family, user or damaged one is expired")
    func foreignTokens() async throws {
        let api = try await api(zones: ["A"])
        let token = try await api.changes().serverChangeToken
        let other = try await api.cloud.accounts.add(named: "other")
        let body = #"{"serverChangeToken":"\#(token)"}"#
        let answers = [
            try await api.notifications("changes", body, webToken: other),
            try await api.notifications("changes", #"{"serverChangeToken":"x"}"#),
            try await api.post(
                "private/changes/database", #"{"syncToken":"\#(token)"}"#,
                headers: [WireProtocol.extensionsHeader: "1"]
            ),
        ]
        for (answer, why) in zip(answers, ["another database", "not issued", "notifications"]) {
            #expect(answer.text.contains(why))
            #expect(answer.text.contains(#""ext":{"ckCode":\#(CKErrorCode.changeTokenExpired)}"#))
        }
    }

    @Test("NOTIF-12, NOTIF-15: a token from before the kept notifications is expired")
    func expiredToken() async throws {
        let api = try await api(zones: ["A"])
        let token = try await api.changes(limit: 1).serverChangeToken
        try await api.save("note", in: "A")
        _ = try await api.cloud.pipeline.drain()
        let fresh = try await api.changes().serverChangeToken
        _ = try await api.cloud.store.write(.everything) {
            try $0.removeNotifications(createdBefore: Instant(rawValue: .max), limit: 100)
        }
        let answer = try await api.notifications(
            "changes", #"{"serverChangeToken":"\#(token)"}"#)
        #expect(answer.error?.reason.contains("older than the kept notifications") == true)
        #expect(try await api.changes(after: fresh).notifications == [])
        #expect(try await api.changes().notifications == [])
    }

    @Test("NOTIF-14: the badge can be set; negative numbers and nonsense are refused")
    func badge() async throws {
        let api = try await TestAPI()
        let answer = try await api.notifications("badge", #"{"value":5}"#)
        #expect(answer.withoutHeaders == TestAPI.Answer(status: 200, text: #"{"value":5}"#))
        #expect(try await api.notifications("badge", #"{"value":0}"#).status == 200)
        for value in ["-1", "2147483648"] {
            let refused = try await api.notifications("badge", #"{"value":\#(value)}"#)
            #expect(
                refused.error
                    == .badRequest(
                        "value is \(value); "
                            + "a badge is between 0 and 2147483647"
                    )
            )
        }
        for body in ["{}", #"{"value":"5"}"#, #"{"value":1.5}"#, "[]"] {
            #expect(try await api.notifications("badge", body).status == 400)
        }
    }

    @Test(
        "NOTIF-11, NOTIF-14: the history is the user's: an API token alone is not enough",
        arguments: [
            ("changes", "{}"), ("markRead", #"{"notificationIDs":[]}"#), ("badge", #"{"value":0}"#),
        ]
    )
    func needsUser(action: String, body: String) async throws {
        let api = try await TestAPI()
        let answer = try await api.notifications(action, body, webToken: "")
        #expect(answer.status == 421)
        #expect(answer.error?.code == .authenticationRequired)
    }
}

extension TestAPI {
    /// Calls an endpoint of the notification history.
    fileprivate func notifications(
        _ action: String, _ body: String, from client: String = "reader",
        webToken: String? = nil
    ) async throws -> Answer {
        let web = webToken ?? self.webToken
        let headers = [WireProtocol.extensionsHeader: "1"]
        return try await send(
            "POST",
            "/ext/1/\(Self.container)/development/notifications/\(action)?ckAPIToken=\(apiToken)"
                + (web.isEmpty ? "" : "&ckWebAuthToken=\(web)") + "&clientId=\(client)",
            body, headers: headers
        )
    }

    /// Fetches a page of the history.
    fileprivate func changes(
        after token: String? = nil, limit: Int? = nil, from client: String = "reader",
        webToken: String? = nil
    ) async throws -> FetchNotificationChanges.Response {
        let request = FetchNotificationChanges.Request(
            serverChangeToken: token, resultsLimit: limit
        )
        let body = JSONWriter.write(capacity: 128) { request.write(to: &$0) }
        let answer = try await notifications(
            "changes", String(decoding: body, as: UTF8.self), from: client, webToken: webToken
        )
        #expect(answer.status == 200)
        return try JSONReader.read(Array(answer.text.utf8)) {
            try FetchNotificationChanges.Response(from: &$0)
        }
    }
}
