// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("Subscriptions with filters")
struct PredicateTests {
    private func subscription(_ id: String, _ filters: String...) -> String {
        """
        {"operations":[{"operationType":"create","subscription":{"subscriptionID":"\(id)",\
        "subscriptionType":"query","zoneWide":true,"query":{"recordType":"Note",\
        "filterBy":[\(filters.joined(separator: ","))]},"firesOn":["create","update"],\
        "firesOnce":false}}]}
        """
    }

    private func filter(_ comparator: String, _ field: String, _ value: String) -> String {
        #"{"comparator":"\#(comparator)",\#(field),"fieldValue":\#(value)}"#
    }

    @Test("SUB-22: filters are answered with their types, as they were sent")
    func roundTrip() async throws {
        let api = try await TestAPI()
        let filters = [
            filter("EQUALS", #""fieldName":"tide""#, #"{"value":"low","type":"STRING"}"#),
            filter("IN", #""fieldName":"level""#, #"{"value":[1,2],"type":"INT64_LIST"}"#),
            filter(
                "GREATER_THAN", #""systemFieldName":"modifiedTimestamp""#,
                #"{"value":5,"type":"TIMESTAMP"}"#
            ),
        ]
        let answer = try await api.post(
            "private/subscriptions/modify", subscription("s", filters[0], filters[1], filters[2])
        )
        #expect(answer.status == 200)
        let stored = #""filterBy":[\#(filters.joined(separator: ","))]"#
        #expect(answer.text.contains(stored), "\(answer.text)")
        let list = try await api.get("private/subscriptions/list")
        #expect(list.text.contains(stored))
    }

    @Test("SUB-22, QUERY-21: a filter that makes no sense fails its item, with which and why")
    func item() async throws {
        let api = try await TestAPI()
        let answer = try await api.post(
            "private/subscriptions/modify",
            subscription("s", filter("NEAR", #""fieldName":"at""#, #"{"value":"here"}"#))
        )
        #expect(answer.status == 200)
        #expect(
            answer.text
                == #"{"subscriptions":[{"subscriptionID":"s","reason":"subscription 's': "#
                + #"filterBy[0], NEAR on 'at': expected a value of type LOCATION","#
                + #""serverErrorCode":"BAD_REQUEST"}]}"#
        )
    }

    @Test("QUERY-21: a request with an untyped list for IN, or an unknown comparator, is refused")
    func request() async throws {
        let api = try await TestAPI()
        let untyped = try await api.post(
            "private/subscriptions/modify",
            subscription("s", filter("IN", #""fieldName":"tide""#, #"{"value":["low"]}"#))
        )
        #expect(untyped.status == 400)
        #expect(untyped.text.contains("Unexpected input: the fieldValue of IN needs the type"))
        let unknown = try await api.post(
            "private/subscriptions/modify",
            subscription("s", filter("LIKE", #""fieldName":"tide""#, #"{"value":"low"}"#))
        )
        #expect(unknown.status == 400)
        #expect(unknown.text.contains(#"unknown comparator \"LIKE\""#), "\(unknown.text)")
    }

    @Test("SUB-32, SUB-34, T-11: the same predicate under another ID names the first")
    func duplicate() async throws {
        let api = try await TestAPI()
        let low = filter("EQUALS", #""fieldName":"tide""#, #"{"value":"low"}"#)
        let loud = filter("EQUALS", #""fieldName":"tide""#, #"{"value":"LOW"}"#)
        let high = filter("EQUALS", #""fieldName":"tide""#, #"{"value":"high"}"#)
        _ = try await api.post("private/subscriptions/modify", subscription("first", low))
        let twin = try await api.post("private/subscriptions/modify", subscription("second", loud))
        #expect(twin.text.contains(#""reason":"subscription is duplicate of 'first'""#))
        let other = try await api.post("private/subscriptions/modify", subscription("third", high))
        #expect(!other.text.contains("serverErrorCode"))
    }
}
