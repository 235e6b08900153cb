// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import TidebellCore
import TidebellWire

@testable import TidebellHTTP
import Foundation
import TidebellServer

@Suite("S2: slots of polls, downloads and uploads have owners", .hangs)
struct HeldRequestTests {
    private let one = PeerAddress("192.0.2.1")
    private let two = PeerAddress("192.0.2.2")

    /// The path of a new courier of the user with a token.
    private func courier(_ api: TestAPI, of token: String? = nil) async throws -> String {
        let target = api.target(under: "device", "tokens/create")
            .replacing(api.webToken, with: token ?? api.webToken)
        let answer = try await api.send(
            "POST", target, #"{"apnsEnvironment":"development","clientId":"\#(token ?? "page")"}"#
        )
        let path = try #require(answer.text.split(separator: "/courier/").last)
        return "/courier/" + path.prefix { $0 != "\"" }
    }

    /// An answer whose body nobody reads yet, so that it keeps its slot.
    private func begin(
        _ api: TestAPI, _ target: String, method: HTTPRequest.Method = .get,
        from address: PeerAddress? = nil
    ) async -> WebResponse {
        await api.cloud.respond(to: WebRequest(method, target, from: api.origin(address)))
    }

    @Test("S2: a poll counts for the user whom the courier serves, with the user's streams")
    func polls() async throws {
        let api = try await TestAPI(heldRequests: HeldRequests(capacity: 100, share: 2))
        let otto = try await api.cloud.accounts.add(named: "otto")
        let mine = try await courier(api)
        let ottos = try await courier(api, of: otto)
        let stream = api.target(under: "ext", "notifications/stream") + "&clientId=d"
        do {
            let held = [await begin(api, mine, from: one), await begin(api, stream, from: two)]
            #expect(held.map(\.status) == [200, 200])
            for address in [nil, one, two, PeerAddress("127.0.0.1")] {
                #expect(await begin(api, mine, from: address).status == 429)
                #expect(await begin(api, ottos, from: address).status == 200)
            }
            #expect(await begin(api, stream, from: two).status == 429)
        }
        #expect(api.cloud.webServices.cloud.heldRequests.current == 0)
        #expect(api.cloud.webServices.cloud.courierPolls.count == 0)
    }

    @Test("S2: callers without a user have half of the slots together, however many they are")
    func strangers() throws {
        let bound = HeldRequests(capacity: 8, share: 2, strangersShare: 4)
        var held: [HeldRequests.Slot] = []
        for number in 1...4 {
            let address = Caller.address("192.0.2.\(number % 3)")
            held.append(try bound.takeSlot(for: number == 4 ? nil : address))
        }
        #expect {
            try bound.takeSlot(for: .address("192.0.2.9"))
        } throws: {
            ($0 as? WireError)?.code == .tryAgainLater
        }
        for number in 1...4 {
            held.append(
                try bound.takeSlot(for: .account(AccountID(rawValue: Int64(number % 2)))))
        }
        #expect(throws: WireError.self) {
            try bound.takeSlot(for: .account(AccountID(rawValue: 9)))
        }
        held.removeAll()
        #expect(bound.current == 0)
        for number in 1...4 { held.append(try bound.takeSlot(for: .address("\(number)"))) }
    }

    @Test("S2: a courier holds four polls; a fifth ends the oldest, whose answer is empty")
    func fewPolls() async throws {
        let api = try await TestAPI()
        let courier = try await courier(api)
        let couriers = api.cloud.webServices.cloud.courierPolls
        try await withThrowingTaskGroup(of: (Int, String).self) { group in
            func poll(_ number: Int) {
                group.addTask { (number, try await api.send("GET", courier).text) }
            }
            for number in 1...CourierPolls.mostPerCourier {
                poll(number)
                #expect(await eventually { couriers.count == number })
                await api.clock.untilSleeping(number)
            }
            let tooSoon = try await api.send("GET", courier)
            #expect(tooSoon.status == 429 && tooSoon[header: "Retry-After"] == "1")
            api.clock.advance(by: CourierPolls.leastTime)
            poll(5)
            let ended = try #require(try await group.next())
            #expect(ended == (1, ""))
            #expect(await eventually { couriers.count == CourierPolls.mostPerCourier })
            // The others wait until their time is up.
            await api.clock.untilSleeping(CourierPolls.mostPerCourier)
            api.clock.advance(by: .seconds(55))
            for try await (_, text) in group { #expect(text.isEmpty) }
        }
        #expect(couriers.count == 0)
    }

    private func transfers(_ count: Int) -> ShareLimits {
        var shares = ShareLimits()
        shares.transfersPerCaller = count
        return shares
    }

    private func path(_ asset: WireAsset) throws -> String {
        let url = try #require(asset.downloadURL)
        let start = try #require(url.range(of: "/assets/"))
        return String(url[start.lowerBound...].replacing("/${f}", with: ""))
    }

    @Test("S2: a download counts for the user its URL was made for, and stops no upload")
    func downloads() async throws {
        let api = try await TestAPI(shares: transfers(1))
        _ = try await api.save(
            try await api.upload([1, 2, 3], to: "picture", of: "n"), as: "picture", of: "n")
        let asset = try await api.asset("picture", of: "n")
        let own = try path(asset)
        let seal = AssetSeal(keys: AssetSeal.Keys(.test), baseURL: "http://h")
        let link = try #require(seal.link(url: asset.downloadURL ?? ""))
        #expect(link.user != nil)
        func made(for user: UserID?) throws -> String {
            var other = link
            other.user = user
            return try path(WireAsset(fileChecksum: "", size: 0, downloadURL: seal.url(of: other)))
        }
        let held = await begin(api, own, from: one)
        #expect(held.status == 200)
        #expect(await begin(api, own, from: two).status == 429)
        // An upload of the same user has a slot of its own.
        #expect(try await api.upload([4], to: "picture", of: "m").size == 1)
        // Somebody else's URL, of the same address.
        #expect(await begin(api, try made(for: UserID(rawValue: 4711)), from: one).status == 200)
        // One without a user, as those that were given out before, counts for its address.
        let old = try made(for: nil)
        let olds = await begin(api, old, from: one)
        #expect(olds.status == 200)
        #expect(await begin(api, old, from: one).status == 429)
        #expect(await begin(api, old, from: two).status == 200)
        withExtendedLifetime((held, olds)) {}
    }

    @Test("S2: the user of a download URL cannot be changed")
    func sealedUsers() throws {
        let seal = AssetSeal(keys: AssetSeal.Keys(.test), baseURL: "http://h")
        let content = AssetContent(rawValue: String(repeating: "ab", count: 32))
        for user in [nil, UserID(rawValue: 1), UserID(rawValue: .max)] {
            let link = AssetLink(content: content, expiresAt: TestAPI.start, user: user)
            let url = seal.url(of: link)
            #expect(seal.link(url: url) == link)
            let token = try #require(url.split(separator: "/").dropLast().last)
            let bytes = try #require(Base64URL.bytes(token))
            for index in bytes.indices {
                var changed = bytes
                changed[index] ^= 1
                #expect(seal.link(token: Base64URL.text(changed)) == nil)
            }
            for length in 0..<bytes.count {
                #expect(seal.link(token: Base64URL.text(Array(bytes.prefix(length)))) == nil)
            }
        }
    }

    @Test("S2: an upload to a public database counts for the user who asked for its URL")
    func uploads() async throws {
        let api = try await TestAPI(shares: transfers(1))
        let otto = try await api.cloud.accounts.add(named: "otto")
        func path(of token: String, _ record: String) async throws -> String {
            let answer = try await api.send(
                "POST", api.target("public/assets/upload").replacing(api.webToken, with: token),
                #"{"tokens":[{"recordName":"\#(record)","recordType":"Note","fieldName":"f"}]}"#
            )
            let response = try JSONReader.read(Array(answer.text.utf8)) {
                try UploadAssets.Response(from: &$0)
            }
            let url = try #require(response.tokens.first).url
            return String(url[try #require(url.range(of: "/assets/")).lowerBound...])
        }
        let first = try await path(of: api.webToken, "a")
        let second = try await path(of: api.webToken, "b")
        let ottos = try await path(of: otto, "c")
        let held = AsyncStream.makeStream(of: Void.self)
        let begun = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let answer = await api.cloud.respond(
                    to: WebRequest(
                        .post, first,
                        body: .stream { writer in
                            begun.continuation.yield()
                            for await _ in held.stream { break }
                            try await writer.write([1])
                        },
                        from: api.origin(one)
                    ))
                #expect(answer.status == 200)
            }
            for await _ in begun.stream { break }
            #expect(try await api.send("POST", second, "x", from: two).status == 429)
            #expect(try await api.send("POST", ottos, "x", from: one).status == 200)
            held.continuation.yield()
            try await group.waitForAll()
        }
        #expect(try await api.send("POST", second, "x", from: two).status == 200)
    }
}
