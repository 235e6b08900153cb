// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellWire

@Suite("Filters")
struct WireFilterTests {
    private func read(_ json: String) throws -> WireFilter {
        try JSONReader.read(utf8(json)) { try WireFilter(from: &$0) }
    }

    private func problem(_ json: String) -> String? {
        failure(reading: json) { _ = try WireFilter(from: &$0) }
    }

    @Test("QUERY-22: every comparator is written as it is read", arguments: comparators)
    func comparator(_ comparator: WireFilter.Comparator) throws {
        let filter = WireFilter(comparator, .field("f"), .list(.stringList, [.string("a")]))
        let json =
            #"{"comparator":"\#(comparator.rawValue)","fieldName":"f","#
            + #""fieldValue":{"value":["a"],"type":"STRING_LIST"}}"#
        #expect(try read(json) == filter)
        #expect(written { filter.write(to: &$0) } == json)
    }

    static let comparators = WireFilter.Comparator.allCases

    @Test("QUERY-22: there are 21 comparators, two with another spelling")
    func aliases() {
        #expect(Self.comparators.count == 21)
        #expect(WireFilter.Comparator(name: "CONTAINS_ANY") == .listContainsAny)
        #expect(WireFilter.Comparator(name: "LIST_NOT_CONTAINS_ANY") == .notListContainsAny)
    }

    @Test("QUERY-6: a system field is known by both names in both members")
    func systemFields() throws {
        for field in WireFilter.SystemField.allCases {
            let expected = WireFilter(.equals, .system(field), .string("x"))
            let value = #""fieldValue":{"value":"x"}"#
            for member in [
                #""systemFieldName":"\#(field.rawValue)""#,
                #""systemFieldName":"\#(field.schemaName)""#,
                #""fieldName":"\#(field.schemaName)""#,
            ] {
                #expect(try read(#"{"comparator":"EQUALS",\#(member),\#(value)}"#) == expected)
            }
        }
        // QUERY-21: the short name is an app's field when it is a fieldName.
        let own = try read(
            #"{"comparator":"EQUALS","fieldName":"recordName","fieldValue":{"value":"x"}}"#
        )
        #expect(own == WireFilter(.equals, .field("recordName"), .string("x")))
    }

    @Test("QUERY-5: a filter that names no field looks at all text")
    func allText() throws {
        let json =
            #"{"comparator":"CONTAINS_ALL_TOKENS","fieldValue":{"value":"sea","type":"STRING"}}"#
        let filter = WireFilter(.containsAllTokens, .allText, .string("sea"))
        #expect(try read(json) == filter)
        #expect(written { filter.write(to: &$0) } == json)
    }

    @Test("QUERY-21: IN and NOT_IN need the type of their list", arguments: ["IN", "NOT_IN"])
    func listTypes(comparator: String) throws {
        func json(_ value: String) -> String {
            #"{"comparator":"\#(comparator)","fieldName":"f","fieldValue":\#(value)}"#
        }
        #expect(
            problem(json(#"{"value":["a"]}"#))
                == "Unexpected input: the fieldValue of \(comparator) needs the type of its list, "
                + "such as STRING_LIST"
        )
        #expect(
            try read(json(#"{"type":"INT64_LIST","value":[1,2]}"#)).value
                == .list(.int64List, [.int64(1), .int64(2)])
        )
    }

    @Test("A filter that lacks something, or has it twice, is refused")
    func incomplete() {
        let value = #""fieldValue":{"value":"x"}"#
        let problems = [
            #"{"fieldName":"f",\#(value)}"#: "missing required field 'comparator'",
            #"{"comparator":"EQUALS","fieldName":"f"}"#: "missing required field 'fieldValue'",
            #"{"comparator":"EQUALS","fieldName":"f","fieldValue":{"value":null}}"#:
                "missing required field 'fieldValue'",
            #"{"comparator":"LIKE","fieldName":"f",\#(value)}"#:
                #"comparator: unknown comparator "LIKE""#,
            #"{"comparator":"EQUALS","systemFieldName":"f",\#(value)}"#:
                #"systemFieldName: unknown system field "f""#,
            #"{"comparator":"EQUALS","fieldName":"f","systemFieldName":"share",\#(value)}"#:
                "systemFieldName: a filter has one of fieldName and systemFieldName",
        ]
        for (json, expected) in problems { #expect(problem(json) == expected, "\(json)") }
    }
}
