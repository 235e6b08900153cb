// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("Sign-ins that wait")
struct SignInLineTests {
    @Test("M2: a crowd from one address delays who comes from another by one of its own")
    func fairness() {
        var line = SignInLine<String>()
        for index in 0..<40 {
            #expect(line.enter("crowd \(index)", from: "192.0.2.1", goesFirst: false) == nil)
        }
        #expect(line.enter("user", from: "198.51.100.7", goesFirst: false) == nil)
        #expect([line.next(), line.next(), line.next()] == ["crowd 0", "user", "crowd 1"])
        #expect(line.enter("known", from: "192.0.2.1", goesFirst: true) == nil)
        #expect(line.next() == "known")
        #expect(line.count == 38)
    }

    @Test("M2: when nobody more can wait, the last of the largest crowd goes")
    func bound() {
        var line = SignInLine<String>()
        for index in 0..<SignInLine<String>.capacity {
            #expect(line.enter("crowd \(index)", from: "192.0.2.1", goesFirst: false) == nil)
        }
        #expect(line.enter("one more", from: "192.0.2.1", goesFirst: false) == "one more")
        #expect(line.enter("user", from: "198.51.100.7", goesFirst: false) == "crowd 63")
        #expect(line.enter("known", from: "198.51.100.7", goesFirst: true) == "crowd 62")
        var order: [String] = []
        while let next = line.next() { order.append(next) }
        #expect(order.prefix(3) == ["known", "crowd 0", "user"])
        #expect(order.count == SignInLine<String>.capacity)
        #expect(line.count == 0)
    }

    @Test("S3: a crowd that signed in before takes every other turn, and nobody's slot")
    func knownCrowd() {
        var line = SignInLine<String>()
        for index in 0..<SignInLine<String>.capacity {
            #expect(line.enter("known \(index)", from: "192.0.2.1", goesFirst: true) == nil)
        }
        #expect(line.enter("user", from: "198.51.100.7", goesFirst: false) == "known 63")
        #expect([line.next(), line.next(), line.next()] == ["known 0", "user", "known 1"])
    }

    @Test("Who leaves the line makes room, wherever in it")
    func leaving() {
        var line = SignInLine<Int>()
        for index in 0..<6 {
            _ = line.enter(index, from: "\(index / 3)", goesFirst: index.isMultiple(of: 2))
        }
        #expect(line.remove { $0 == 2 } == 2)
        #expect(line.remove { $0 == 1 } == 1)
        #expect(line.remove { $0 == 1 } == nil)
        #expect(line.count == 4)
        #expect((0..<5).map { _ in line.next() } == [0, 3, 4, 5, nil])
    }

    @Test("A crowd of addresses of one each waits in the order it came")
    func order() {
        var line = SignInLine<Int>()
        for index in 0...SignInLine<Int>.capacity {
            let leaves = line.enter(index, from: "\(index)", goesFirst: false)
            #expect(leaves == (index < 64 ? nil : 64))
        }
        #expect((0..<64).map { _ in line.next() } == (0..<64).map { $0 })
        #expect(line.next() == nil)
    }
}

@Suite("Wrong passwords")
struct SignInAttemptsTests {
    private let start = Duration.seconds(1000)

    @Test("M2: wrong passwords from everywhere make new addresses wait, and never long")
    func delays() throws {
        var attempts = SignInAttempts()
        #expect(try attempts.begin("me", from: "home", at: start) == .zero)
        attempts.succeeded("me", from: "home", at: start)
        for index in 0..<10 {
            #expect(try attempts.begin("me", from: "bot \(index)", at: start) == .zero)
        }
        #expect(try attempts.begin("me", from: "new", at: start) == .seconds(1))
        #expect(try attempts.begin("me", from: "newer", at: start) == .seconds(2))
        #expect(try attempts.begin("me", from: "home", at: start) == .zero)
        // One more is one too many for the time that anybody waits.
        for index in 0..<200 { _ = try? attempts.begin("me", from: "late \(index)", at: start) }
        let error = #expect(throws: WireError.self) {
            try attempts.begin("me", from: "bot 0", at: start)
        }
        #expect(error?.code == .throttled)
        #expect(try #require(error?.retryAfter) <= 60)
        #expect(try attempts.begin("ben", from: "last", at: start) == .zero)
    }

    @Test("M2: strangers who try all the time do not keep a user out at an address that is new")
    func newAddress() throws {
        var attempts = SignInAttempts()
        // Nine from each address: none of them is refused for itself.
        for round in 0..<9 {
            for index in 0..<100 {
                _ = try? attempts.begin(
                    "me", from: "bot \(index)", at: start + .seconds(round))
            }
        }
        let now = start + .seconds(9)
        let wait = try attempts.begin("me", from: "hotel", at: now)
        #expect(wait == SignInAttempts.delay.longest)
        attempts.succeeded("me", from: "hotel", at: now + wait)
        #expect(try attempts.begin("me", from: "hotel", at: now + wait) == .zero)
    }

    @Test("M2: made-up names from one address end, and those from others do not")
    func madeUpNames() throws {
        var attempts = SignInAttempts()
        for index in 0..<SignInAttempts.maximumFailuresOfAddress {
            #expect(try attempts.begin("name \(index)", from: "bot", at: start) == .zero)
        }
        let error = #expect(throws: WireError.self) {
            try attempts.begin("another", from: "bot", at: start)
        }
        #expect(error?.retryAfter == 900)
        #expect(try attempts.begin("another", from: "home", at: start) == .zero)
        let later = start + SignInAttempts.window
        #expect(try attempts.begin("another", from: "bot", at: later) == .zero)
    }

    @Test(
        "M2: 30,000 made-up names, tried or withdrawn, do not wipe the count of an account",
        arguments: [nil, "bot"])
    func crowd(address: String?) throws {
        var attempts = SignInAttempts()
        for _ in 0..<10 { _ = try attempts.begin("me", from: nil, at: start) }
        for index in 0..<(SignInAttempts.capacity * 3) {
            // Each address tries a few.
            let from = address.map { "\($0) \(index / 10)" }
            _ = try attempts.begin("name \(index)", from: from, at: start)
            if index.isMultiple(of: 2) { attempts.withdrew("name \(index)", from: from) }
        }
        #expect(try attempts.begin("me", from: nil, at: start) == SignInAttempts.delay.first)
    }

    @Test("An attempt that was not made does not count, nor do those of who knew the password")
    func takenBack() throws {
        var attempts = SignInAttempts()
        for _ in 0..<30 {
            _ = try attempts.begin("me", from: "home", at: start)
            attempts.withdrew("me", from: "home")
        }
        for _ in 0..<30 {
            _ = try attempts.begin("me", from: "home", at: start)
            attempts.succeeded("me", from: "home", at: start)
        }
        #expect(try attempts.begin("me", from: "new", at: start) == .zero)
    }
}

@Suite("Requests a second")
struct RequestRatesTests {
    @Test("A caller makes a burst, then so many a second; others are not held to it")
    func rates() {
        var rates = RequestRates<String>(perSecond: 10, burst: 3)
        let second: Int64 = 1_000_000_000
        #expect((0..<3).map { _ in rates.count("one", at: 0) } == [nil, nil, nil])
        #expect(rates.count("one", at: 0) == second / 10)
        #expect(rates.count("two", at: 0) == nil)
        #expect(rates.count("one", at: second / 10) == nil)
        #expect(rates.count("one", at: second / 10) == second / 10)
        // After a pause the burst is there again, and no more than that.
        #expect(
            (0..<4).map { _ in rates.count("one", at: 9 * second) == nil } == [
                true, true, true, false,
            ])
    }

    @Test("A crowd of callers costs bounded memory, and is let in")
    func crowd() {
        var rates = RequestRates<Int>(perSecond: 1, burst: 1)
        let refused = (0..<100_000).filter { rates.count($0, at: 0) != nil }
        #expect(refused.isEmpty)
        #expect(rates.count(99_999, at: 0) != nil)
    }
}
