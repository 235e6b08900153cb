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
        let known = try #require(try await api.cloud.store.read { try $0.signIn(calledBy: "ben") })
        let devices = api.cloud.webServices.cloud.deviceSignIns
        #expect(devices.enter(changed.userCode, by: KnownUser(name: "ben", signIn: known)))
        try await api.cloud.accounts.setPassword("battery staple", of: "ben", cost: .least)
        #expect(try await Self.ask(api, changed.deviceCode).status == 401)
        #expect(try await api.cloud.accounts.sessions(of: "ben") == [])
        api.clock.advance(by: DeviceSignIns.lifetime)
        #expect(!devices.enter(late.userCode, by: KnownUser(name: "ben", signIn: known)))
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
        let devices = DeviceSignIns(elapsed: { .zero })
        func begin(_ number: Int, in container: Int) throws -> String {
            try devices.begin(
                [UInt8(number % 256), UInt8(number / 256)], named: nil,
                in: ContainerKey(container: "iCloud.c\(container)", environment: .development),
                from: .nobody, by: .seeded(UInt64(number)))
        }
        var codes: Set<String> = []
        for number in 0..<DeviceSignIns.most {
            codes.insert(try begin(number, in: number / DeviceSignIns.mostOfContainer))
            guard number == DeviceSignIns.mostOfContainer - 1 else { continue }
            #expect(throws: WireError.self) { try begin(number + 1, in: 0) }
        }
        #expect(codes.count == DeviceSignIns.most)
        #expect(throws: WireError.self) { try begin(DeviceSignIns.most, in: 1000) }
        let name = String(repeating: "x", count: DeviceSignIns.mostNameBytes + 1)
        let long = try await Self.call(api, "deviceCode", #"{"deviceName":"\#(name)"}"#)
        #expect(long.status == 400)
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
