// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import Foundation
import Testing

@testable import CloudKit

@Suite("Functions of predicate formats")
struct PredicateFunctionTests {
    private struct Owner {
        let name: String
    }

    private final class Pet: NSObject {
        let owner: Owner? = Owner(name: "Ann")
        let keeper: Owner? = nil
    }

    private let object: [String: Any] = [
        "name": "Ärger", "size": 5, "half": 2.5, "tags": ["c", "a", "b"],
        "numbers": [1, 2, 3, 4, 4], "nothing": [Int](),
        "items": [["price": 2, "tag": "x"], ["price": 3, "tag": "x"], ["price": 4, "tag": "y"]],
        "when": Date(timeIntervalSinceReferenceDate: 60), "date": "12", "map": ["k": 9],
        "bag": Set([4, 2]),
    ]

    private func holds(_ format: String) -> Bool {
        NSPredicate(format: format).evaluate(with: object)
    }

    @Test(
        "QUERY-2: elements of lists are named by index, FIRST and LAST, their number by SIZE",
        arguments: [
            "tags[FIRST] == 'c'", "tags[last] == 'b'", "tags[SIZE] == 3", "tags[1] == 'a'",
            "nothing[FIRST] == nil", "nothing[LAST] == nil", "nothing[SIZE] == 0", "tags[3] == nil",
            "tags[-1] == nil", "name[FIRST] == nil", "map['k'] == 9", "map[date] == nil",
            "{1, size}[LAST] == 5", "tags[SIZE] + 1 == 4",
        ]
    )
    func elements(format: String) {
        #expect(holds(format))
    }

    @Test(
        "QUERY-2: functions of one value, with and without their colon",
        arguments: [
            "lowercase:(name) == 'ärger'", "uppercase(name) == 'ÄRGER'", "length:(name) == 5",
            "canonical:(name) == 'arger'", "abs:(-5) == size", "abs(-2.5) == half",
            "floor:(half) == 2", "ceiling:(half) == 3", "trunc:(-2.5) == -2", "sqrt:(16) == 4",
            "exp:(0) == 1", "ln:(1) == 0", "log:(100) == 2", "onesComplement:(0) == -1",
            "noindex:(name) == name", "lowercase:(size) == nil", "abs:(name) == nil",
            "abs:(missing) == nil",
        ]
    )
    func ofOneValue(format: String) {
        #expect(holds(format))
    }

    @Test(
        "QUERY-2: functions of lists",
        arguments: [
            "count:(tags) == 3", "count(nothing) == 0", "sum:(numbers) == 14", "sum:(nothing) == 0",
            "average:(numbers) == 2.8", "min:(numbers) == 1", "max:(numbers) == 4",
            "median:(numbers) == 3", "median:({1, 2}) == 1.5", "mode:(numbers) == {4}",
            "stddev:({2, 4}) == 1", "average:(nothing) == nil", "min:(nothing) == nil",
            "sum:({1, 0.5}) == 1.5", "sum:(tags) == nil", "sum:(size) == nil",
            "count:(size) == nil",
        ]
    )
    func ofLists(format: String) {
        #expect(holds(format))
    }

    @Test(
        "QUERY-2: functions of two values",
        arguments: [
            "modulus:by:(17, size) == 2", "modulus:by:(1, 0) == nil",
            "bitwiseAnd:with:(6, 3) == 2", "bitwiseOr:with:(6, 3) == 7",
            "bitwiseXor:with:(6, 3) == 5", "leftshift:by:(1, 4) == 16",
            "rightshift:by:(16, 3) == 2", "bitwiseAnd:with:(1.5, 1) == nil",
            "CAST(date, 'NSNumber') == 12", "CAST(size, 'NSString') == '5'",
            "CAST(when, 'NSNumber') == 60", "CAST(60, 'NSDate') == when",
            "CAST(name, 'NSNumber') == nil", "CAST(name, 'NSString') == name",
            "castObject:toType:(size + 0.5, 'NSDecimalNumber') == 5.5",
            "9223372036854775807 + 1 == nil", "9007199254740993 + 0 == 9007199254740993",
            "7 / 2 == 3", "-7 / 2 == -3", "1 / 0 == nil", "random() >= 0", "random:(3) < 3",
        ]
    )
    func ofTwoValues(format: String) {
        #expect(holds(format))
    }

    @Test(
        "QUERY-2: key paths through lists have operators",
        arguments: [
            "items.@sum.price == 9", "items.@max.price == 4", "items.@min.price == 2",
            "items.@avg.price == 3", "items.@count == 3", "items.price == {2, 3, 4}",
            "items.@distinctUnionOfObjects.tag == {'x', 'y'}",
            "items.@unionOfObjects.tag == {'x', 'x', 'y'}", "numbers.@sum.self == 14",
            "numbers.@max.self == 4", "bag.@sum.self == 6", "bag.@count == 2",
            "nothing.@sum.self == 0", "nothing.@max.self == nil", "items.@sum.tag == nil",
            "size.@count == nil",
        ]
    )
    func operatorsOfKeyPaths(format: String) {
        #expect(holds(format))
    }

    @Test(
        "QUERY-2: variables, calls and elements have keys",
        arguments: [
            "SUBQUERY(items, $x, $x.price > 2).@count == 2",
            "SUBQUERY(items, $x, $x.price > 2 AND $x.tag == 'x')[FIRST].price == 3",
            "SUBQUERY(items, $x, $x.price > 9).@count == 0", "items[0].price == 2",
            "items[LAST].tag == 'y'", "SUBQUERY(items, $x, TRUEPREDICATE).@sum.price == 9",
            "SUBQUERY({1, size}, $n, $n > 1).@count == 1", "(items).@count == 3",
            "SUBQUERY(missing, $x, $x.a == 1).@count == 0", "map['k'].a == nil",
        ]
    )
    func keysOfExpressions(format: String) {
        #expect(holds(format))
    }

    @Test("QUERY-2: key paths go through optional properties")
    func optionalProperties() {
        #expect(NSPredicate(format: "owner.name == 'Ann'").evaluate(with: Pet()))
        #expect(NSPredicate(format: "keeper.name == nil").evaluate(with: Pet()))
        #expect(NSPredicate(format: "keeper == nil").evaluate(with: Pet()))
    }

    @Test(
        "A function or operator nobody knows is refused when the format is read",
        arguments: [
            ("loewercase:(a) == 'x'", "there is no function 'loewercase:' at character 11"),
            ("f:g:(a, 1) == 1", "there is no function 'f:g:' at character 4"),
            ("FUNCTION(a, 'b') == 1", "there is no function 'FUNCTION' at character 8"),
            ("abs:(1, 2) == 1", "abs: takes 1 parameter, not 2 at character 11"),
            ("now(1) < 1", "now takes no parameters, not 1 at character 7"),
            ("add:to:(1) == 1", "add:to: takes 2 parameters, not 1 at character 11"),
            (
                "CAST(a, 'NSData') == 1",
                "CAST makes NSDate, NSNumber, NSDecimalNumber or NSString at character 18"
            ),
            ("a.@foo.b == 1", "'@foo' is not an operator of collections at character 0"),
            ("a.@sum == 1", "'@sum' needs a key behind it at character 0"),
            ("$x.@foo == 1", "'@foo' is not an operator of collections at character 3"),
            ("'x'.a == 1", "a constant has no keys at character 4"),
            ("$x. == 1", "expected a number at character 2"),
        ]
    )
    func unknown(format: String, reason: String) throws {
        #expect {
            try PredicateParser.parse(format)
        } throws: { error in
            let expected = "Unable to parse the format string \"\(format)\": \(reason)."
            return "\(error)" == expected
        }
    }

    @Test("The field of an argument has the same operators")
    func operatorsInArguments() throws {
        #expect(NSPredicate(format: "%K == 9", "items.@sum.price").evaluate(with: object))
        #expect(throws: PredicateFormatError.self) {
            try PredicateParser.parse("%K == 9", ["items.@foo.price"])
        }
    }

    @Test(
        "QUERY-2: functions print by their full names",
        arguments: [
            ("sum(a) == 1", "sum:(a) == 1"), ("lowercase:(a) == 'x'", #"lowercase:(a) == "x""#),
            ("a[first] == 1", "a[FIRST] == 1"), ("a[SIZE] == 1", "a[SIZE] == 1"),
            ("a[#first] == 1", "a[#first] == 1"), ("a[size[0]] == 1", "a[size[0]] == 1"),
            ("castObject:toType:(a, 'NSNumber') == 1", #"CAST(a, "NSNumber") == 1"#),
            ("now() > a", "now() > a"), ("$x.a.b[0].c == 1", "$x.a.b[0].c == 1"),
            ("(a).b == 1", "a.b == 1"),
            (
                "SUBQUERY(a, $x, $x.b == 1).@count > 0",
                "SUBQUERY(a, $x, $x.b == 1).@count > 0"
            ), ("-1[0] == a", "-1[0] == a"),
        ]
    )
    func prints(format: String, expected: String) throws {
        let tree = try PredicateParser.parse(format)
        #expect(tree.description == expected)
        #expect(try PredicateParser.parse(expected) == tree)
    }

    @Test("CloudKit refuses functions, with the function named")
    func refusals() throws {
        let tree = try PredicateParser.parse("lowercase:(a) == 'x'")
        #expect(
            throws: PredicateRefusal(
                "'lowercase:(a)' is not supported by CloudKit. Compare a field with a value."
            )
        ) { try tree.terms() }
    }
}
