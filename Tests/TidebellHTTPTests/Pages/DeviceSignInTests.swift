// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import TidebellCore
import TidebellScheduling
import TidebellServer
import TidebellWire

@testable import TidebellHTTP

/// How a device signs in that shows a code.
@Suite("The sign-in of a device by a code", .hangs)
struct DeviceSignInTests {
    private static func cloud() async throws -> TestAPI {
        var shares = ShareLimits()
        shares.giveTime(.seconds(600))
        let api = try await TestAPI(shares: shares)
        _ = try await api.cloud.accounts.add(named: "ben")
        try await api.cloud.accounts.setPassword("correct horse", of: "ben", cost: .least)
        return api
    }

    /// Calls an endpoint as a device that nobody is signed in on.
    private static func call(
        _ api: TestAPI, _ what: String, _ body: String,
        container: String = TestAPI.container, from address: PeerAddress? = nil
    ) async throws -> TestAPI.Answer {
        try await api.send(
            "POST", "/ext/1/\(container)/development/account/\(what)?ckAPIToken=\(api.apiToken)",
            body, headers: ["Host": "here"], from: address)
    }

    private static func begin(_ api: TestAPI) async throws -> BeginDeviceSignIn.Response {
        let answer = try await call(api, "deviceCode", #"{"deviceName":"<desk>"}"#)
        #expect(answer.status == 200)
        return try JSONReader.read(Array(answer.text.utf8)) { try .init(from: &$0) }
    }

    private static func ask(
        _ api: TestAPI, _ code: String, container: String = TestAPI.container
    ) async throws -> TestAPI.Answer {
        try await call(api, "deviceToken", #"{"deviceCode":"\#(code)"}"#, container: container)
    }

    @Test("A device gets its token once somebody entered its code, and nobody else does")
    func signIn() async throws {
        let api = try await Self.cloud()
        let begun = try await Self.begin(api)
        #expect(begun.userCode.wholeMatch(of: /[B-Z]{4}-[B-Z]{4}/) != nil)
        #expect(begun.verificationURL == "http://here/device-sign-in")
        #expect(begun.expiresIn == 600 && begun.interval == 3)
        #expect(try await Self.ask(api, begun.deviceCode).text == #"{"pending":true}"#)
        try await api.serving { port in
            var browser = TestBrowser(port, at: "/device-sign-in?code=\(begun.userCode)")
            let page = try await browser.open()
            #expect(page.status == 200 && page.heading == "Sign in on this device?")
            #expect(page.body.contains("<bdi>&lt;desk&gt;</bdi>"))
            #expect(page.body.contains("\(TestAPI.container) (development)"))
            let wrong = try await browser.submit("allow", ["user": "ben", "password": "no"])
            #expect(wrong.status == 403)
            #expect(wrong.alert == "The user name or the password is wrong.")
            #expect(try await Self.ask(api, begun.deviceCode).text == #"{"pending":true}"#)
            let foreign = try await browser.submit(
                "allow", ["user": "ben", "password": "correct horse", "token": "x"])
            #expect(foreign.status == 403 && foreign.heading == "Nothing was done")
            try await browser.open()
            let done = try await browser.submit(
                "allow", ["user": "ben", "password": "correct horse"])
            #expect(done.status == 200 && done.heading == "The device is signed in")
            // It is entered once.
            #expect(try await browser.open().status == 404)
        }
        // Who only saw the code that was shown has nothing to ask with, nor has another container.
        #expect(try await Self.ask(api, begun.userCode).status == 404)
        let elsewhere = try await Self.ask(
            api, begun.deviceCode, container: "iCloud.org.example.other")
        #expect(elsewhere.status == 404)
        let answer = try await Self.ask(api, begun.deviceCode)
        let signedIn = try JSONReader.read(Array(answer.text.utf8)) {
            try SignIn.Response(from: &$0)
        }
        #expect(signedIn.user == "ben")
        let target = TestAPI.target(
            "private/zones/list", apiToken: api.apiToken, webToken: signedIn.webAuthToken)
        #expect(try await api.send("GET", target).status == 200)
        #expect(try await api.cloud.accounts.sessions(of: "ben").map(\.origin) == [.device])
        #expect(try await Self.ask(api, begun.deviceCode).status == 404)
    }

    @Test("A code is good for ten minutes, and no longer than the password it was entered with")
    func expiry() async throws {
        let api = try await Self.cloud()
        let (late, changed) = (try await Self.begin(api), try await Self.begin(api))
        #expect(try await api.enter(changed.userCode, as: "ben"))
        try await api.cloud.accounts.setPassword("battery staple", of: "ben", cost: .least)
        #expect(try await Self.ask(api, changed.deviceCode).status == 401)
        #expect(try await Self.ask(api, changed.deviceCode).status == 404)
        #expect(try await api.cloud.accounts.sessions(of: "ben") == [])
        api.clock.advance(by: DeviceSignIns.lifetime)
        #expect(try await !api.enter(late.userCode, as: "ben"))
        let answer = try await Self.ask(api, late.deviceCode)
        #expect(answer.status == 404)
        #expect(answer.error?.reason == "the code was used, or its time is over: begin again")
    }

    @Test(
        "An API token of a web app, which says whom its pages may tell, begins no sign-in of a device"
    )
    func webApps() async throws {
        let api = try await Self.cloud()
        for signIn in [
            AppSignIn(origins: ["https://notes.example"]),
            AppSignIn(callback: "https://notes.example/signed-in"),
        ] {
            let token = try await api.cloud.accounts.makeAPIToken(named: "app", signIn: signIn)
            let answer = try await api.send(
                "POST",
                "/ext/1/\(TestAPI.container)/development/account/deviceCode?ckAPIToken=\(token)",
                "{}")
            #expect(answer.status == 403)
            #expect(
                answer.error?.reason
                    == "this API token is of a web app, whose users sign in on the server's page: devices "
                    + "need one that was made without origins and callback")
        }
    }

    @Test(
        "The page says from which network a device asks, or that nobody knows",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("2001:db8:1:2::3", "2001:db8:1:2::/64"),
            (nil, "an address that is not known"),
        ])
    func networks(address: String?, text: String) async throws {
        let api = try await Self.cloud()
        let begun = try JSONReader.read(
            Array(
                try await Self.call(
                    api, "deviceCode", "{}", from: address.flatMap { PeerAddress($0) }
                ).text.utf8)
        ) { try BeginDeviceSignIn.Response(from: &$0) }
        let page = try await api.send("GET", "/device-sign-in?code=\(begun.userCode)")
        #expect(page.text.contains("<dt>Asked from</dt><dd>\(text)</dd>"), "\(page.text)")
    }

    @Test("So many devices wait, and so many of one address; a name has its length")
    func bounds() async throws {
        let api = try await Self.cloud()
        let address = PeerAddress("192.0.2.1")
        for _ in 0..<DeviceSignIns.mostOfAddress {
            #expect(try await Self.call(api, "deviceCode", "{}", from: address).status == 200)
        }
        #expect(try await Self.call(api, "deviceCode", "{}", from: address).status == 503)
        let other = PeerAddress("198.51.100.1")
        #expect(try await Self.call(api, "deviceCode", "{}", from: other).status == 200)
        // Those before are over.
        api.clock.advance(by: DeviceSignIns.lifetime)
        let now = api.clock.instant
        try await api.cloud.store.write(.store) { transaction throws in
            func begin(_ number: Int, in container: Int, showing codes: [String]) throws -> String {
                let device = StoredDeviceSignIn(
                    hash: [UInt8(number % 256), UInt8(number / 256)], userCode: "",
                    container: ContainerKey(
                        container: "iCloud.c\(container)", environment: .development),
                    expiresAt: now.advanced(by: DeviceSignIns.lifetime))
                return try DeviceSignIns.begin(
                    device, showingOneOf: codes, at: now, in: transaction)
            }
            for number in 0..<DeviceSignIns.most {
                let container = number / DeviceSignIns.mostOfContainer
                #expect(try begin(number, in: container, showing: ["\(number)"]) == "\(number)")
                guard number == DeviceSignIns.mostOfContainer - 1 else { continue }
                #expect(throws: WireError.self) {
                    try begin(number + 1, in: 0, showing: ["\(number + 1)"])
                }
            }
            #expect(throws: WireError.self) {
                try begin(DeviceSignIns.most, in: 1000, showing: ["x"])
            }
        }
        let name = String(repeating: "x", count: DeviceSignIns.mostNameBytes + 1)
        let long = try await Self.call(api, "deviceCode", #"{"deviceName":"\#(name)"}"#)
        #expect(long.status == 400)
    }

    @Test("Another device's code is passed over, and codes have each letter alike")
    func codes() async throws {
        let api = try await Self.cloud()
        let now = api.clock.instant
        try await api.cloud.store.write(.store) { transaction throws in
            func begin(_ number: UInt8, showing codes: [String]) throws -> String {
                let device = StoredDeviceSignIn(
                    hash: [number], userCode: "",
                    container: ContainerKey(
                        container: TestAPI.container, environment: .development),
                    expiresAt: now.advanced(by: DeviceSignIns.lifetime))
                return try DeviceSignIns.begin(
                    device, showingOneOf: codes, at: now, in: transaction)
            }
            #expect(try begin(1, showing: ["a", "b"]) == "a")
            #expect(try begin(2, showing: ["a", "b"]) == "b")
            #expect(throws: WireError.self) { try begin(3, showing: ["a", "b"]) }
        }
        let all = (0...255).map { UInt8($0) }
        let letters = DeviceSignIns.codes(drawn: all).joined().filter { $0 != "-" }
        #expect(letters.count == 240)
        #expect(Set(Dictionary(grouping: letters) { $0 }.values.map(\.count)) == [12])
        #expect(DeviceSignIns.codes(drawn: [0, 1, 2, 3, 4, 5, 6, 255]) == [])
        #expect(DeviceSignIns.codes(drawn: [0, 1, 2, 3, 255, 4, 5, 6, 7]) == ["BCDF-GHJK"])
    }

    @Test(
        "Device and browser may come to another server of the store each time, and one of two gets the token"
    )
    func severalServers() async throws {
        let api = try await Self.cloud()
        let node = api.makeNode()
        let path = "/ext/1/\(TestAPI.container)/development/account/"
        func ask(_ code: String, of server: CloudServices) async throws -> TestAPI.Answer {
            try await api.send(
                "POST", "\(path)deviceToken?ckAPIToken=\(api.apiToken)",
                #"{"deviceCode":"\#(code)"}"#, headers: ["Host": "here"], to: server)
        }
        let begun = try await Self.begin(api)
        #expect(try await ask(begun.deviceCode, of: node).text == #"{"pending":true}"#)
        let page = try await api.send(
            "GET", "/device-sign-in?code=\(begun.userCode)", to: node)
        #expect(page.status == 200 && page.text.contains("<bdi>&lt;desk&gt;</bdi>"))
        try await api.serving { port in
            var browser = TestBrowser(port, at: "/device-sign-in?code=\(begun.userCode)")
            try await browser.open()
            let done = try await browser.submit(
                "allow", ["user": "ben", "password": "correct horse"])
            #expect(done.heading == "The device is signed in")
        }
        let used = try await api.send(
            "GET", "/device-sign-in?code=\(begun.userCode)", to: node)
        #expect(used.status == 404)
        async let one = ask(begun.deviceCode, of: node)
        async let other = ask(begun.deviceCode, of: api.cloud)
        let answers = try await [one, other]
        #expect(answers.map(\.status).sorted() == [200, 404])
        let text = try #require(answers.first { $0.status == 200 }).text
        let signedIn = try JSONReader.read(Array(text.utf8)) { try SignIn.Response(from: &$0) }
        let target = TestAPI.target(
            "private/zones/list", apiToken: api.apiToken, webToken: signedIn.webAuthToken)
        for server in [api.cloud, node] {
            #expect(try await api.send("GET", target, to: server).status == 200)
        }
        #expect(try await api.cloud.accounts.sessions(of: "ben").map(\.origin) == [.device])
    }

    @Test("How many wait is counted over all servers, and maintenance removes what nobody finished")
    func boundsOfSeveralServers() async throws {
        let api = try await Self.cloud()
        let node = api.makeNode()
        let target =
            "/ext/1/\(TestAPI.container)/development/account/deviceCode?ckAPIToken=\(api.apiToken)"
        for number in 0..<DeviceSignIns.mostOfContainer {
            let server = number.isMultiple(of: 2) ? api.cloud : node
            let answer = try await api.send(
                "POST", target, "{}", headers: ["Host": "here"], to: server)
            #expect(answer.status == 200)
        }
        for server in [api.cloud, node] {
            #expect(
                try await api.send(
                    "POST", target, "{}", headers: ["Host": "here"], to: server
                ).status == 503)
        }
        func counts() async throws -> Int {
            let container = ContainerKey(container: TestAPI.container, environment: .development)
            return try await api.cloud.store.read {
                try $0.deviceSignInCounts(in: container, of: nil, at: Instant(rawValue: 0)).all
            }
        }
        await node.maintenance.round()
        #expect(try await counts() == DeviceSignIns.mostOfContainer)
        api.clock.advance(by: DeviceSignIns.lifetime)
        await node.maintenance.round()
        #expect(try await counts() == 0)
    }

    @Test("A code is read as people type it")
    func typed() {
        for text in ["BCDF-GHJK", "bcdfghjk", " b c d f g h j k", "bcdf–ghjk"] {
            #expect(DeviceSignIns.canonical(text) == "BCDF-GHJK", "\(text)")
        }
        for text in ["", "BCDF-GHJ", "BCDF-GHJKL", String(repeating: "-", count: 100)] {
            #expect(DeviceSignIns.canonical(text) == nil, "\(text)")
        }
    }
}
