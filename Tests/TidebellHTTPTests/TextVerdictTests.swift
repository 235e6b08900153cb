// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellPush
import TidebellServer
import TidebellWire

/// Texts that Foundation, the standard library and the versions of Unicode that they know take apart
/// differently: queries and subscriptions must not.
@Suite("Queries and subscriptions agree on texts")
struct TextVerdictTests {
    /// A text and one that is the same for some version of Unicode, or nearly so.
    private static let pairs = [
        // Unicode 16.
        ("\u{105C9}", "\u{105D2}\u{307}"), ("\u{105E4}", "\u{105DA}\u{307}"),
        ("\u{113C5}", "\u{113C2}\u{113C2}"), ("\u{16126}", "\u{16121}\u{1611F}"),
        ("\u{16D68}", "\u{16D67}\u{16D67}"), ("\u{1C89}", "\u{1C8A}"),
        // Longer known.
        ("\u{E9}", "e\u{301}"), ("\u{212B}", "A\u{30A}"), ("\u{AC01}", "\u{1100}\u{1161}\u{11A8}"),
        ("\u{1109A}", "\u{11099}\u{110BA}"), ("\u{344}", "\u{308}\u{301}"),
        ("\u{958}", "\u{915}\u{93C}"), ("\u{F900}", "\u{8C48}"),
        ("\u{1D15E}", "\u{1D157}\u{1D165}"),
        ("a\u{316}\u{301}", "a\u{301}\u{316}"), ("\u{130}", "i\u{307}"), ("\u{DF}", "\u{1E9E}"),
        ("\u{3C2}", "\u{3C3}"), ("\u{FB01}", "fi"),
    ]

    private static let comparators = [
        "EQUALS", "NOT_EQUALS", "IN", "NOT_IN", "BEGINS_WITH", "NOT_BEGINS_WITH",
        "CONTAINS_ALL_TOKENS",
    ]

    /// The filter of a field against a text, with another one behind it.
    private static func filter(_ comparator: String, _ text: String) -> String {
        let value =
            comparator.hasSuffix("IN")
            ? #"{"value":["\#(text)","other"],"type":"STRING_LIST"}"#
            : #"{"value":"\#(text)","type":"STRING"}"#
        return """
            {"comparator":"\(comparator)","fieldName":"tide","fieldValue":\(value)}
            """
    }

    @Test("QUERY-8, SUB-23: a query finds a record exactly where a subscription matches it")
    func sameVerdict() async throws {
        let api = try await TestAPI()
        _ = try await api.send(
            "POST", api.target(under: "device", "tokens/create") + "&clientId=listener",
            #"{"apnsEnvironment":"development"}"#)
        var cells: [(id: String, type: String, filter: String, events: String)] = []
        for (number, pair) in (Self.pairs + Self.pairs.map { ($1, $0) }).enumerated() {
            for comparator in Self.comparators {
                // Of other events, so that a filter that is the same makes no duplicate (SUB-34).
                let asked = [
                    ("same", pair.0, #""create""#), ("other", pair.1, #""create","update""#),
                ]
                for (kind, asked, events) in asked {
                    cells.append(
                        (
                            "\(number)-\(comparator)-\(kind)", "Note\(number)",
                            Self.filter(comparator, asked), events
                        ))
                }
            }
        }
        var queried: Set<String> = []
        for cell in cells {
            let answer = try await api.post(
                "private/subscriptions/modify",
                """
                {"operations":[{"operationType":"create","subscription":{"subscriptionID":"\(cell.id)",\
                "subscriptionType":"query","firesOn":[\(cell.events)],\
                "query":{"recordType":"\(cell.type)","filterBy":[\(cell.filter)]},\
                "notificationInfo":{"alertBody":"new"}}}]}
                """)
            try #require(!answer.text.contains("ErrorCode"), "\(answer.text)")
        }
        _ = try await api.cloud.pipeline.drain()
        for (number, pair) in (Self.pairs + Self.pairs.map { ($1, $0) }).enumerated() {
            let answer = try await api.post(
                "private/records/modify",
                """
                {"operations":[{"operationType":"create","record":{"recordName":"r\(number)",\
                "recordType":"Note\(number)","fields":{"tide":{"value":"\(pair.0)"}}}}]}
                """, query: "&clientId=writer")
            try #require(!answer.text.contains("ErrorCode"), "\(answer.text)")
        }
        for cell in cells {
            let answer = try await api.post(
                "private/records/query",
                #"{"query":{"recordType":"\#(cell.type)","filterBy":[\#(cell.filter)]}}"#)
            #expect(answer.status == 200, "\(cell.id): \(answer.text)")
            if !answer.recordNames.isEmpty { queried.insert(cell.id) }
        }
        _ = try await api.cloud.pipeline.drain()
        let notified = try await Self.notified(api, limit: cells.count + 1)
        #expect(Set(notified).symmetricDifference(queried) == [])
        // Each text is equal to itself.
        for number in 0..<2 * Self.pairs.count {
            #expect(queried.contains("\(number)-EQUALS-same"))
            #expect(!queried.contains("\(number)-NOT_EQUALS-same"))
        }
    }

    /// The subscriptions that have fired, each as often as it has.
    private static func notified(_ api: TestAPI, limit: Int) async throws -> [String] {
        try await api.cloud.store.read { reader in
            let account = try #require(try reader.account(named: "me"))
            let user = try #require(
                try reader.user(
                    of: account,
                    in: ContainerKey(container: TestAPI.container, environment: .development)))
            return try reader.notifications(
                for: user.id, after: .start, excludingOrigin: nil, limit: limit
            ).map(\.subscriptionID)
        }
    }

    @Test(
        "SUB-23: texts that a newer Unicode composes are told apart where both are in one choice, one list, one request"
    )
    func together() async throws {
        let (first, second) = Self.pairs[0]
        let api = try await TestAPI()
        _ = try await api.send(
            "POST", api.target(under: "device", "tokens/create") + "&clientId=listener",
            #"{"apnsEnvironment":"development"}"#)
        let both = #"{"value":["\#(first)","\#(second)"],"type":"STRING_LIST"}"#
        func filter(_ comparator: String, _ field: String, _ value: String) -> String {
            #"{"comparator":"\#(comparator)","fieldName":"\#(field)","fieldValue":\#(value)}"#
        }
        func text(_ text: String) -> String { #"{"value":"\#(text)","type":"STRING"}"# }
        let subscriptions = [
            ("choice", #""create""#, "Choice", filter("IN", "tide", both)),
            ("list of first", #""create""#, "List", filter("LIST_CONTAINS", "tags", text(first))),
            (
                "list of second", #""create","update""#, "List",
                filter("LIST_CONTAINS", "tags", text(second))
            ),
            ("first", #""create""#, "Note", filter("EQUALS", "tide", text(first))),
            ("second", #""create","update""#, "Note", filter("EQUALS", "tide", text(second))),
        ]
        for (id, events, type, filter) in subscriptions {
            let answer = try await api.post(
                "private/subscriptions/modify",
                """
                {"operations":[{"operationType":"create","subscription":{"subscriptionID":"\(id)",\
                "subscriptionType":"query","firesOn":[\(events)],\
                "query":{"recordType":"\(type)","filterBy":[\(filter)]},\
                "notificationInfo":{"alertBody":"new"}}}]}
                """)
            try #require(!answer.text.contains("ErrorCode"), "\(answer.text)")
        }
        _ = try await api.cloud.pipeline.drain()
        func note(_ name: String, _ type: String, _ field: String, _ value: String) -> String {
            """
            {"operationType":"create","record":{"recordName":"\(name)","recordType":"\(type)",\
            "fields":{"\(field)":\(value)}}}
            """
        }
        for operations in [
            [note("c1", "Choice", "tide", text(first))],
            [note("c2", "Choice", "tide", text(second))], [note("l", "List", "tags", both)],
            [
                note("n1", "Note", "tide", text(first)), note("n2", "Note", "tide", text(second)),
            ],
        ] {
            let answer = try await api.post(
                "private/records/modify",
                #"{"operations":[\#(operations.joined(separator: ","))]}"#,
                query: "&clientId=writer")
            try #require(!answer.text.contains("ErrorCode"), "\(answer.text)")
            _ = try await api.cloud.pipeline.drain()
        }
        #expect(
            try await Self.notified(api, limit: 100).sorted() == [
                "choice", "choice", "first", "list of first", "list of second", "second",
            ])
    }
}
