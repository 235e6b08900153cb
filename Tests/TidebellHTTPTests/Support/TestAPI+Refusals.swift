// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellWire

@testable import TidebellHTTP
import HTTPTypes
import TidebellServer

/// How ``RefusalTests`` meet bounds.
extension TestAPI {
    /// The head of a request of `me`.
    func head(of path: String, _ headers: String) -> String {
        "POST \(target(path)) HTTP/1.1\r\nHost: here\r\n\(headers)\r\n\r\n"
    }

    /// Serves on a socket until `body` has an answer.
    func answer(
        connectionLimit: Int = 300, _ change: (inout ShareLimits) -> Void = { _ in },
        _ body: @escaping @Sendable (RawConnection.Port) async throws -> String
    ) async throws -> String {
        let (answers, answered) = AsyncStream.makeStream(of: String.self)
        try await serving(connectionLimit: connectionLimit) { cloud in
            var limits = cloud.shares.limits
            change(&limits)
            cloud.shares = Shares(
                limits: limits, clock: cloud.time.clock, metrics: cloud.shares.metrics)
        } _: { port in
            answered.yield(try await body(port))
            answered.finish()
        }
        for await answer in answers { return answer }
        return ""
    }

    /// Asks again and again, until it is refused.
    func untilRefused(
        _ ask: (TestAPI) async throws -> Answer
    ) async throws -> String {
        while true {
            let answer = try await ask(self)
            if answer.status == 429 { return answer.text }
        }
    }

    func stream() async throws -> String {
        try await send(
            "GET", target(under: "ext", "notifications/stream") + "&clientId=d"
        ).text
    }

    func modified(
        _ rest: String, of name: String, in scope: String = "private"
    ) async throws -> String {
        try await post(
            "\(scope)/records/modify",
            """
            {"atomic":false,"operations":[{"operationType":"create","record":{"recordName":"\(name)",\
            "recordType":"Note",\(rest)}}]}
            """
        ).text
    }

    /// Deletes a record that another one goes with.
    func deletedWithAnother() async throws -> String {
        _ = try await saveText("a")
        _ = try await modified(
            #""fields":{"up":{"value":{"recordName":"a","action":"DELETE_SELF"}}}"#, of: "b")
        return try await post(
            "private/records/modify",
            #"{"operations":[{"operationType":"forceDelete","record":{"recordName":"a"}}]}"#
        ).text
    }

    /// A request whose body has eight bytes.
    func eightBytes() async throws -> String {
        try await answer { port in
            let head = self.head(of: "private/zones/lookup", "Content-Length: 8")
            return try await RawConnection(port).request(head + "        ")
        }
    }

    /// Asks for the record `a` and reads nothing of the answer until the server has counted it.
    func answerLeftUnread(
        until isCounted: @escaping @Sendable () -> Bool
    ) async throws -> String? {
        let body = #"{"records":[{"recordName":"a"}]}"#
        let head = head(of: "private/records/lookup", "Content-Length: \(body.utf8.count)")
        _ = try await answer {
            $0.answerTime = .milliseconds(1)
        } _: { port in
            let connection = try RawConnection(port, receiving: 4096)
            try connection.send(head + body)
            #expect(await eventually { isCounted() })
            connection.close()
            return ""
        }
        return nil
    }

    /// Sends a file where there is one slot for files that come, which another caller may have.
    func upload(besideOthers: Bool, isExtended: Bool = false) async throws -> String {
        let path = try await uploadPath("picture", of: "n", isExtended: isExtended)
        var cloud = cloud.webServices.cloud
        cloud.transfers = Transfers(capacity: 2, shares: cloud.shares)
        let other = Caller.account(AccountID(rawValue: 4711))
        let slot = besideOthers ? try cloud.transfers.uploads.takeSlot(for: other) : nil
        defer { withExtendedLifetime(slot) {} }
        let answer = await WebServices(cloud: cloud).respond(
            to: WebRequest(.post, path, body: .bytes(Array("abc".utf8))))
        return String(decoding: try await answer.body.collect(), as: UTF8.self)
    }

    func saveText(
        _ name: String, _ text: String = "tide", in scope: String = "private"
    ) async throws -> String {
        try await modified(#""fields":{"title":{"value":"\#(text)"}}"#, of: name, in: scope)
    }

    func subscribed() async throws -> String {
        try await post(
            "private/subscriptions/modify",
            """
            {"operations":[{"operationType":"create","subscription":{"subscriptionID":"all",\
            "subscriptionType":"query","query":{"recordType":"Note"},"firesOn":["delete"],\
            "notificationInfo":{"shouldSendContentAvailable":true}}}]}
            """
        ).text
    }

    func signInRequest(
        of user: String = "ben", _ password: String, from address: PeerAddress?
    ) -> WebRequest {
        let path = target(under: "ext", "account/signIn")
            .replacing("&ckWebAuthToken=\(webToken)", with: "")
        return WebRequest(
            .post, path,
            body: .bytes(Array(#"{"user":"\#(user)","password":"\#(password)"}"#.utf8)),
            from: origin(address))
    }

    func signIn(_ password: String, from address: PeerAddress?) async throws -> Answer {
        let response = await cloud.respond(to: signInRequest(password, from: address))
        return Answer(
            status: response.status,
            text: String(decoding: try await response.body.collect(), as: UTF8.self))
    }

    /// What a caller gets of a store whose waiting calls are too many; that the store itself
    /// refuses them so is proven where it is.
    func answer(ofStoreRefusing bound: WireError.Bound) async throws -> String {
        var cloud = cloud.webServices.cloud
        cloud.store = FullStore(cloud.store, bound)
        let request = WebRequest(
            .post, target("private/zones/modify"), body: .bytes(Array(#"{"operations":[]}"#.utf8)))
        let answer = await WebServices(cloud: cloud).respond(to: request)
        return String(decoding: try await answer.body.collect(), as: UTF8.self)
    }

    /// Saves a record and a share of it, after a record below it or without.
    func shared(_ share: String, ofParent hasChild: Bool = false) async throws -> String {
        try await makeZone("Shared")
        try await save("root", in: "Shared")
        if hasChild {
            _ = try await post(
                "private/records/modify",
                """
                {"zoneID":{"zoneName":"Shared"},"operations":[{"operationType":"create",\
                "record":{"recordName":"child","recordType":"Note","fields":{},\
                "parent":{"recordName":"root"}}}]}
                """)
        }
        return try await post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Shared"},"operations":[{"operationType":"create",\
            "record":{"recordName":"share","recordType":"cloudkit.share",\
            "forRecord":{"recordName":"root"},"fields":{},\(share)}}]}
            """
        ).text
    }

    /// What another user gets who accepts the share of an answer, or asks for access to it.
    func joined(_ answer: String, by endpoint: String = "accept") async throws -> String {
        let ben = try await cloud.accounts.makeWebToken(for: "ben")
        let guid = try #require(answer.firstMatch(of: /"shortGUID":"([^"]+)"/)?.1)
        return try await send(
            "POST",
            Self.target("public/records/\(endpoint)", apiToken: apiToken, webToken: ben),
            #"{"shortGUIDs":[{"value":"\#(guid)"}]}"#
        ).text
    }
}
