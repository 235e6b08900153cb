// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite struct CollapseIDTests {
    private func collapseID(
        _ key: String?, fields: [String: Field] = [:], kind: WireSubscription.Kind = .query
    ) -> CollapseID? {
        let subscription = Fixture.subscription(
            kind, zone: "feed", type: "FeedItem",
            info: Fixture.info {
                $0.collapseIDKey = key
                $0.alert.body = "New"
            }
        )
        let change = Fixture.change(fields: fields)
        let match = SubscriptionMatch(
            subscription: subscription, entry: Fixture.entry(.records([change])),
            cause: .record(change)
        )
        var builder = NotificationBuilder()
        return builder.collapseID(of: match)
    }

    @Test("NINFO-15: the ID is the string of the field the key names")
    func fieldValue() {
        #expect(
            collapseID("thread", fields: ["thread": Field(.string("t-1"))]) == .chosen("t-1"))
    }

    @Test("NINFO-15: without such a field, or with one that gives no ID, it is the key itself")
    func literal() {
        let fields = [
            "number": Field(.int64(5)), "empty": Field(.string("")),
            "secret": Field(.string("s"), isEncrypted: true),
        ]
        for key in ["absent", "number", "empty", "secret"] {
            #expect(collapseID(key, fields: fields) == .chosen(key))
        }
        #expect(collapseID(nil, fields: fields) == nil)
        #expect(collapseID("", fields: fields) == nil)
    }

    @Test("PUSH-2, PUSH-5: what fits the header is taken as it is, 64 bytes at most")
    func shortTexts() {
        for text in ["a", "thread-1_~", String(repeating: "x", count: 64)] {
            #expect(CollapseID(text: text) == .chosen(text))
        }
        #expect(CollapseID(text: "") == nil)
    }

    @Test("NINFO-15, PUSH-5: a longer text keeps its beginning and a hash of the whole")
    func longTexts() throws {
        let beginning = String(repeating: "x", count: 70)
        let first = try #require(CollapseID(text: beginning + "1")).rawValue
        let second = try #require(CollapseID(text: beginning + "2")).rawValue
        #expect(first != second)
        #expect(first.prefix(48) == String(repeating: "x", count: 47) + "~")
        #expect(first.utf8.count == 64)
        #expect(CollapseID(text: beginning + "1") == .chosen(first))
    }

    @Test(
        "NINFO-15: a text no header may carry becomes one that it may, and stays distinct",
        arguments: ["é", "a b", "line\nbreak", "\u{0}", "👩‍👩‍👧‍👦", String(repeating: "ß", count: 255)]
    )
    func wildTexts(text: String) throws {
        let id = try #require(CollapseID(text: text)).rawValue
        #expect((1...64).contains(id.utf8.count))
        #expect(id.utf8.allSatisfy { (0x21...0x7E).contains($0) })
        #expect(CollapseID(text: text + "x")?.rawValue != id)
    }

    @Test("PUSH-2: ours and an app's are never the same, in the store neither")
    func stored() {
        #expect(CollapseID(text: "background") != .background)
        for id in [CollapseID.background, .chosen("background"), .chosen("x")] {
            #expect(CollapseID(rawValue: id.rawValue) == id)
        }
    }
}
