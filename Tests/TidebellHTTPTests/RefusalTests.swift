// SPDX-License-Identifier: Apache-2.0
import Dispatch
import TestSupport
import Testing
import TidebellCore
import TidebellServer
import TidebellWire

@testable import TidebellHTTP
import TidebellServer

/// What each bound answers and counts when it refuses a caller.
@Suite("Every bound is named and counted", .hangs)
struct RefusalTests {
    /// How a bound is met.
    private struct Meeting: Sendable {
        var limits: @Sendable (inout Limits) -> Void = { _ in }
        var shares: @Sendable (inout ShareLimits) -> Void = { _ in }
        var heldRequests = HeldRequests()
        /// Returns what was answered; nil where nobody was refused anything.
        var refused: @Sendable (TestAPI) async throws -> String?
    }

    @Test(
        "Whoever meets a bound learns its name, and is counted once",
        arguments: WireError.Bound.allCases
    )
    func counted(bound: WireError.Bound) async throws {
        let tally = Tally()
        try await meet(Self.meeting(bound, tally), bound, named: bound.rawValue, tally)
    }

    /// Limits that have a bound's name and a dot, or are counted as another: the one of them that
    /// ``meeting(_:_:)`` meets is not here.
    private static let parts: [String: (bound: WireError.Bound, meeting: Meeting)] = [
        "longReads.waiting": (
            .longReads,
            Meeting(limits: {
                fewLongReads(&$0)
                $0.longReads.waitingOfUser = 1
                $0.longReads.waiting = 0
            }) { try await longReads($0) }
        ),
        "longReads.waitingOfAnonymous": (
            .longReads,
            Meeting(limits: {
                fewLongReads(&$0)
                $0.longReads.waitingOfUser = 8
                $0.longReads.waitingOfAnonymous = 0
            }) { try await longReads($0, isUser: false) }
        ),
        "querySort.bytes": (
            .querySort, Meeting(limits: { $0.querySort.bytes = 1 }) { try await sorted($0) }
        ),
        "assetBytesForExtendedClients": (
            .assetBytes,
            Meeting(limits: {
                $0.assetBytes = 1
                $0.assetBytesForExtendedClients = 2
            }) { try await $0.upload(besideOthers: false, isExtended: true) }
        ),
    ]

    @Test(
        "Whoever meets a limit that is part of a bound learns its name, and is counted once",
        arguments: parts.keys.sorted())
    func counted(part: String) async throws {
        let (bound, meeting) = try #require(Self.parts[part])
        let tally = Tally()
        let name = bound == .longReads ? part : bound.rawValue
        try await meet(meeting, bound, named: name, tally)
    }

    /// What an operator sets by which nobody is refused anything, and what it does instead.
    private static let others: [String: String] = [
        "idleTime": "an idle connection is closed",
        "strangersIdleTime": "an idle connection is closed",
        "answerTime": "the time over which leastAnswerRate is measured",
        "leastBodyRate": "lengthens bodyTime",
        "burstSeconds": "how many of requestsPerSecond come at once",
        "quickQuery.records": "the read becomes a long one",
        "quickQuery.bytes": "the read becomes a long one",
        "quickPage.records": "the read becomes a long one",
        "quickPage.bytes": "the read becomes a long one",
        "longReads.atOnce": "the read waits",
        "longReads.atOnceByCaller": "the read waits",
        "queryScan.records": "the page ends",
        "queryScan.bytes": "the page ends",
        "pageBytes": "the page ends",
        "movedRecords": "the other records follow step by step",
        "cachedSchemaFields": "what is asked for least recently is read again",
        "devicesPerUser": "the device that was unused for longest goes",
        "notificationsPerUser": "devices learn of the gap",
        "keptAnswerBytes": "the oldest answer goes",
        "keptAnswerBytesPerUser": "the oldest answer goes",
        "keptAnswerLength": "the answer is not kept whole",
        "uploadTokenLifetime": "the URL ends", "assetLinkLifetime": "the URL ends",
        "assetGrace": "the file goes", "tombstoneRetention": "change tokens expire",
        "notificationRetention": "the notification goes",
        "explanationRetention": "the explanation goes",
        "explanationBounds.changes": "the explanation goes",
        "explanationBounds.matches": "the explanation goes",
        "explanationBounds.deliveries": "the explanation goes",
        "deviceRetention": "the device goes", "answerRetention": "the answer goes",
        "indexRetention": "the index goes", "indexesPerZone": "queries look through the records",
    ]

    @Test("Every limit that an operator sets is met here, or is one by which nobody is refused")
    func everyLimit() {
        // Of a name with a dot the first part is met by the bound's own meeting.
        let met = Set(WireError.Bound.allCases.map(\.rawValue))
            .union(Self.parts.keys).union(["longReads.waitingOfUser", "querySort.records"])
            .subtracting(["longReads", "querySort"])
            .subtracting(SettableLimit.fixedLimits.keys)
        #expect(met.isDisjoint(with: Self.others.keys))
        #expect(met.union(Self.others.keys) == Set(SettableLimit.all.map(\.name)))
    }

    private func meet(
        _ meeting: Meeting, _ bound: WireError.Bound, named name: String, _ tally: Tally
    ) async throws {
        var (limits, shares) = (Limits(), ShareLimits())
        meeting.limits(&limits)
        meeting.shares(&shares)
        let api = try await TestAPI(
            limits: limits, heldRequests: meeting.heldRequests, shares: shares,
            metrics: HTTPMetrics(factory: tally))
        // A user with a password of their own: setting it would sign `me` out.
        _ = try await api.cloud.accounts.add(named: "ben")
        try await api.cloud.accounts.setPassword("correct horse", of: "ben", cost: .least)
        if let text = try await meeting.refused(api) {
            #expect(text.contains("(\(name)"), "\(text)")
        }
        #expect(
            tally.values.filter { $0.value > 0 } == ["tidebell.refusals \(bound.rawValue)": 1])
    }

    /// Sends the form of new users; returns the page.
    private static func signUp(_ api: TestAPI) async throws -> String {
        let path =
            "/sign-in?container=\(TestAPI.container)&environment=development"
            + "&ckAPIToken=\(api.apiToken)&origin=http://localhost&mode=sign-up"
        let address = PeerAddress("192.0.2.1")
        let page = try await api.send("GET", path, from: address)
        let token = try #require(page.text.firstMatch(of: /name="token" value="([^"]*)"/)?.1)
        let cookie = try #require(page[header: "Set-Cookie"]).prefix { $0 != ";" }
        return try await api.send(
            "POST", path,
            "action=sign-up&token=\(token)&user=carl&new=correct+horse&opener=http://localhost",
            headers: [
                "Cookie": String(cookie), "Content-Type": "application/x-www-form-urlencoded",
            ], from: address
        ).text
    }

    private static func meeting(_ bound: WireError.Bound, _ tally: Tally) -> Meeting {
        switch bound {
        case .connections: Meeting { try await full($0) }
        case .connectionsPerAddress:
            Meeting(shares: {
                $0.countsLoopback = true
                $0.connectionsPerAddress = 1
            }) { api in
                try await api.answer { port in
                    let health = "GET /health HTTP/1.1\r\nHost: h\r\n\r\n"
                    let first = try RawConnection(port)
                    defer { first.close() }
                    _ = try await first.request(health)
                    return try await RawConnection(port).request(health)
                }
            }
        case .headBytes:
            Meeting { api in
                try await api.answer { port in
                    let field = String(repeating: "x", count: ShareLimits().headBytes)
                    return try await RawConnection(port)
                        .request("GET /health HTTP/1.1\r\nX: \(field)\r\n\r\n")
                }
            }
        case .bodyBytes: Meeting(shares: { $0.bodyBytes = 2 }) { try await $0.eightBytes() }
        case .bodyBytesPerCaller:
            Meeting(shares: { $0.bodyBytesPerCaller = 2 }) { try await $0.eightBytes() }
        case .bodyTime:
            Meeting { api in
                try await api.answer {
                    $0.bodyTime = .zero
                } _: { port in
                    try await RawConnection(port)
                        .request(api.head(of: "private/zones/lookup", "Content-Length: 8"))
                }
            }
        case .leastAnswerRate:
            Meeting { api in
                _ = try await api.saveText("a", String(repeating: "tide", count: 220_000))
                return try await api.answerLeftUnread { tally.values.values.contains { $0 > 0 } }
            }
        case .requestsPerSecond:
            Meeting(shares: {
                $0.requestsPerSecond = 1
                $0.burstSeconds = 1
            }) { api in
                try await api.untilRefused { try await $0.get("private/zones/list") }
            }
        case .heldRequests:
            Meeting(heldRequests: HeldRequests(capacity: 0)) { try await $0.stream() }
        case .heldRequestsPerCaller:
            Meeting(heldRequests: HeldRequests(share: 0)) { try await $0.stream() }
        case .courierPolls: Meeting { try await polls($0) }
        case .transfers: Meeting { try await $0.upload(besideOthers: true) }
        case .transfersPerCaller:
            Meeting(shares: { $0.transfersPerCaller = 0 }) {
                try await $0.upload(besideOthers: false)
            }
        case .waitingSignIns: Meeting { try await signIns($0) }
        case .wrongPasswords:
            Meeting { api in
                try await api.untilRefused {
                    try await $0.signIn("wrong horse", from: PeerAddress("192.0.2.1"))
                }
            }
        case .wrongPasswordsPerAddress:
            Meeting(shares: { $0.wrongPasswordsPerAddress = 2 }) { api in
                try await api.untilRefused {
                    try await $0.signIn("wrong horse", from: PeerAddress("192.0.2.1"))
                }
            }
        case .signUps: Meeting(shares: { $0.signUps = 0 }) { try await signUp($0) }
        case .signUpsPerAddress:
            Meeting(shares: { $0.signUpsPerAddress = 0 }) { try await signUp($0) }
        case .pagesPerAccount:
            Meeting(limits: { $0.pagesPerAccount = 1 }) { api in
                let path = api.target(under: "ext", "account/webToken")
                let body = #"{"apiToken":"\#(api.apiToken)"}"#
                let answer = try await api.send("POST", path, body)
                let token = try JSONReader.read(Array(answer.text.utf8)) {
                    try FetchWebAuthToken.Response(from: &$0).webAuthToken
                }
                return try await api.send("POST", path.replacing(api.webToken, with: token), body)
                    .text
            }
        case .signInsPerAccount:
            Meeting(limits: { $0.signInsPerAccount = 1 }) { api in
                let path = api.target(under: "ext", "account/signIn")
                let answer = try await api.send("POST", path, "{}")
                let token = try JSONReader.read(Array(answer.text.utf8)) {
                    try SignIn.Response(from: &$0).webAuthToken
                }
                return try await api.send("POST", path.replacing(api.webToken, with: token), "{}")
                    .text
            }
        case .longReads: Meeting(limits: Self.fewLongReads) { try await longReads($0) }
        case .waitingWrites, .waitingWritesPerCaller, .waitingReads:
            Meeting { try await $0.answer(ofStoreRefusing: bound) }
        case .querySort:
            Meeting(limits: { $0.querySort.records = 1 }) { try await sorted($0) }
        case .namedRecordBytes:
            Meeting(limits: { $0.namedRecordBytes = 1 }) { api in
                _ = try await api.saveText("a")
                return try await api.post(
                    "private/records/lookup", #"{"records":[{"recordName":"a"}]}"#
                ).text
            }
        case .userQuota: Meeting(limits: { $0.userQuota = 1 }) { try await $0.saveText("a") }
        case .containerQuota:
            Meeting(limits: { $0.containerQuota = 1 }) { try await $0.saveText("a", in: "public") }
        case .recordTypesPerContainer:
            Meeting(limits: { $0.recordTypesPerContainer = 0 }) { try await $0.saveText("a") }
        case .fieldsPerType:
            Meeting(limits: { $0.fieldsPerType = 0 }) { try await $0.saveText("a") }
        case .zonesPerDatabase:
            Meeting(limits: { $0.zonesPerDatabase = 0 }) { api in
                try await api.post(
                    "private/zones/modify",
                    #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"a"}}}]}"#
                ).text
            }
        case .containersPerAccount:
            // Who asks has been in one already.
            Meeting(limits: { $0.containersPerAccount = 1 }) { api in
                let elsewhere = api.target("private/zones/list").replacing(".notes", with: ".other")
                return try await api.send("GET", elsewhere).text
            }
        case .subscriptionsPerUser:
            Meeting(limits: { $0.subscriptionsPerUser = 0 }) { try await $0.subscribed() }
        case .subscriptionBytesPerUser:
            Meeting(limits: { $0.subscriptionBytesPerUser = 1 }) { try await $0.subscribed() }
        case .filterBytes:
            Meeting(limits: { $0.filterBytes = 1 }) { try await $0.subscribed() }
        case .notificationInfoBytes:
            Meeting(limits: { $0.notificationInfoBytes = 1 }) { try await $0.subscribed() }
        case .cascadedDeletions:
            Meeting(limits: { $0.cascadedDeletions = 0 }) { try await $0.deletedWithAnother() }
        case .cascadedDeletionBytes:
            Meeting(limits: { $0.cascadedDeletionBytes = 1 }) { api in
                _ = try await api.subscribed()
                return try await api.deletedWithAnother()
            }
        case .demandedRecords:
            Meeting(limits: { $0.demandedRecords = 0 }) { api in
                try await api.modified(#""parent":{"recordName":"a"},"fields":{}"#, of: "b")
            }
        case .participantsPerShare:
            Meeting(limits: { $0.participantsPerShare = 0 }) { api in
                try await api.shared(
                    #""participants":[{"userIdentity":{"lookupInfo":{"emailAddress":"b@example.org"}}}]"#
                )
            }
        case .publicUsersPerShare:
            Meeting(limits: { $0.publicUsersPerShare = 0 }) { api in
                try await api.joined(try await api.shared(#""publicPermission":"READ_ONLY""#))
            }
        case .requestersPerShare:
            Meeting(limits: { $0.requestersPerShare = 0 }) { api in
                try await api.joined(
                    try await api.shared(#""denyAccessRequests":false"#), by: "requestAccess")
            }
        case .blockedPerShare:
            Meeting(limits: { $0.blockedPerShare = 0 }) { api in
                try await api.shared(#""blocked":[{"userIdentity":{"userRecordName":"_b"}}]"#)
            }
        case .recordsAbove:
            Meeting(limits: {
                $0.movedRecords = 0
                $0.recordsAbove = 0
            }) { api in
                try await api.shared(#""publicPermission":"READ_ONLY""#, ofParent: true)
            }
        case .assetBytes:
            Meeting(limits: { $0.assetBytes = 1 }) { try await $0.upload(besideOthers: false) }
        case .awaitedUploadsPerUser:
            Meeting(limits: { $0.awaitedUploadsPerUser = 0 }) { api in
                try await api.post(
                    "private/assets/upload",
                    #"{"tokens":[{"recordName":"a","recordType":"Note","fieldName":"file"}]}"#
                ).text
            }
        case .pushTokensPerUser:
            Meeting(limits: { $0.pushTokensPerUser = 1 }) { api in
                for _ in 0..<2 {
                    let answer = try await api.send(
                        "POST", api.target(under: "device", "tokens/create"),
                        #"{"apnsEnvironment":"development","clientId":"page"}"#)
                    #expect(answer.status == 200)
                }
                return nil
            }
        case .requestBytes:
            Meeting(limits: { $0.requestBytes = 1 }) { try await $0.saveText("a") }
        }
    }

    /// Connections on all of which a request is under way, and one more.
    @Sendable private static func full(_ api: TestAPI) async throws -> String {
        try await api.answer(connectionLimit: 8) { port in
            var open: [RawConnection] = []
            let head = api.head(
                of: "private/zones/lookup", "Expect: 100-continue\r\nContent-Length: 8")
            while true {
                let connection = try RawConnection(port)
                let answer = try await connection.request(head)
                guard answer.hasPrefix("HTTP/1.1 100 ") else { return answer }
                open.append(connection)
            }
        }
    }

    @Sendable private static func polls(_ api: TestAPI) async throws -> String {
        let answer = try await api.send(
            "POST", api.target(under: "device", "tokens/create"),
            #"{"apnsEnvironment":"development","clientId":"page"}"#)
        let courier = try #require(answer.text.split(separator: "/courier/").last)
            .prefix { $0 != "\"" }
        let polls = api.cloud.webServices.cloud.courierPolls
        let listed = try (0..<CourierPolls.mostPerCourier).map { _ in
            try polls.begin(at: String(courier))
        }
        defer { withExtendedLifetime(listed) {} }
        return try await api.send("GET", "/courier/\(courier)").text
    }

    /// A sign-in whose password is checked, those that wait, and one more.
    @Sendable private static func signIns(_ api: TestAPI) async throws -> String? {
        let open = DispatchSemaphore(value: 0)
        var cloud = api.cloud.webServices.cloud
        cloud.signIns = SignInGate(time: .system) { _, _ in
            open.wait()
            return false
        }
        let (gate, web) = (cloud.signIns, WebServices(cloud: cloud))
        return try await withThrowingTaskGroup(of: String.self) { group in
            func signIn(_ number: Int) {
                group.addTask {
                    let request = api.signInRequest(
                        of: "user\(number)", "wrong horse", from: PeerAddress("192.0.2.1"))
                    let answer = await web.respond(to: request)
                    return String(decoding: try await answer.body.collect(), as: UTF8.self)
                }
            }
            for number in 0...SignInLine<Int>.capacity {
                signIn(number)
                // The first one's turn has come; the others wait.
                #expect(await eventually { gate.hasTurn && gate.waiting == number })
            }
            signIn(SignInLine<Int>.capacity + 1)
            let refused = try await group.next()
            for _ in 0...SignInLine<Int>.capacity { open.signal() }
            try await group.waitForAll()
            return refused
        }
    }

    /// A query with an order that looks at two records.
    @Sendable private static func sorted(_ api: TestAPI) async throws -> String {
        for name in ["a", "b"] { try await api.save(name, in: "_defaultZone") }
        return try await api.post(
            "private/records/query",
            #"{"query":{"recordType":"Note","sortBy":[{"systemFieldName":"recordName"}]}}"#
        ).text
    }

    @Sendable private static func fewLongReads(_ limits: inout Limits) {
        limits.quickQuery.records = 1
        limits.longReads.atOnce = 1
        limits.longReads.waitingOfUser = 0
    }

    /// A long read that goes on, and another one, of `me` or of who is no user.
    private static func longReads(_ api: TestAPI, isUser: Bool = true) async throws -> String? {
        let scope = isUser ? "private" : "public"
        for name in ["a", "b", "c"] { _ = try await api.saveText(name, in: scope) }
        let reads = api.cloud.webServices.cloud.longReads
        let ofUser = api.target("\(scope)/records/query")
        let target =
            isUser ? ofUser : ofUser.replacing("&ckWebAuthToken=\(api.webToken)", with: "")
        return try await reads.run(for: .account(AccountID(rawValue: 4711))) {
            try await api.send("POST", target, #"{"query":{"recordType":"Note"}}"#).text
        }
    }
}
