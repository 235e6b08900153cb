// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import Foundation
import Testing

@testable import CloudKit

@Suite("Predicate formats")
struct PredicateFormatTests {
    /// What the parser makes of a format, written in one way.
    private func read(_ format: String, _ arguments: any CVarArg...) -> String? {
        PredicateTree(NSPredicate(format: format, argumentArray: arguments))?.description
    }

    private func failure(_ format: String, _ arguments: [Any] = []) -> String? {
        do {
            _ = try PredicateParser.parse(format, arguments)
            return nil
        } catch {
            return error.description
        }
    }

    /// The text of a predicate, by a protocol: Foundation on Linux marks the property deprecated.
    private func text(_ predicate: NSPredicate) -> String {
        (predicate as any FormatTelling).predicateFormat
    }

    @Test("QUERY-2: a predicate of a format has that format, and equals others of the same")
    func formats() {
        let predicate = NSPredicate(format: "a = %@ AND (b > 2 OR NOT c = 3)", "x")
        #expect(text(predicate) == #"a == "x" AND (b > 2 OR NOT (c == 3))"#)
        #expect("\(predicate)" == text(predicate))
        #expect((predicate as? NSCompoundPredicate)?.compoundPredicateType == .and)
        let parts = (predicate as? NSCompoundPredicate)?.subpredicates as? [NSPredicate]
        #expect(parts?.map(text) == [#"a == "x""#, "b > 2 OR NOT (c == 3)"])
        let same = NSPredicate(format: "%K == 'x' && (b > 2 || !(c = 3))", argumentArray: ["a"])
        #expect(predicate == same)
        #expect(predicate.hash == same.hash)
        #expect(predicate != NSPredicate(format: "a = 'y' AND (b > 2 OR NOT c = 3)"))
        #expect(NSPredicate(format: "a = 1") == NSPredicate(format: "a == 1"))
        #expect(NSPredicate(format: "a = 1") != NSPredicate(format: "a = 1.5"))
        let copy = predicate.copy() as? NSPredicate
        #expect(copy.map(text) == text(predicate))
    }

    @Test(
        "QUERY-2: every operator is read in all its spellings, whatever the case",
        arguments: [
            ("a = 1", "a == 1"), ("a == 1", "a == 1"), ("a != 1", "a != 1"), ("a <> 1", "a != 1"),
            ("a < 1", "a < 1"), ("a <= 1", "a <= 1"), ("a =< 1", "a <= 1"), ("a > 1", "a > 1"),
            ("a >= 1", "a >= 1"), ("a => 1", "a >= 1"), ("a=1&&b=2", "a == 1 AND b == 2"),
            ("a between {1, 2}", "a BETWEEN {1, 2}"), ("a IN {'x', 'y'}", #"a IN {"x", "y"}"#),
            ("a contains 'x'", #"a CONTAINS "x""#), ("a BeginsWith 'x'", #"a BEGINSWITH "x""#),
            ("a ENDSWITH 'x'", #"a ENDSWITH "x""#), ("a like 'x*'", #"a LIKE "x*""#),
            ("a MATCHES '.*'", #"a MATCHES ".*""#),
            ("self contains 'x y'", #"SELF CONTAINS "x y""#),
            ("allTokens TOKENMATCHES[cdl] 'x'", #"allTokens TOKENMATCHES[cdl] "x""#),
            ("any tags = 'x'", #"ANY tags == "x""#), ("SOME tags IN {1}", "ANY tags IN {1}"),
            ("ALL tags > 1", "ALL tags > 1"), ("NONE tags > 1", "NONE tags > 1"),
            ("TRUEPREDICATE", "TRUEPREDICATE"), ("falsepredicate", "FALSEPREDICATE"),
            ("NOT a = 1", "NOT (a == 1)"), ("! (a = 1)", "NOT (a == 1)"),
            ("a = 1 OR b = 2 || c = 3", "a == 1 OR b == 2 OR c == 3"),
            ("a = 1 AND (b = 2 OR c = 3)", "a == 1 AND (b == 2 OR c == 3)"),
            ("a = 1 OR b = 2 AND c = 3", "a == 1 OR (b == 2 AND c == 3)"),
            ("NOT a = 1 AND b = 2", "NOT (a == 1) AND b == 2"), ("((a)) == ((1))", "a == 1"),
        ]
    )
    func operators(format: String, expected: String) {
        #expect(read(format) == expected)
    }

    @Test(
        "QUERY-2: constants are read as the values CloudKit knows",
        arguments: [
            ("a == 'it\\'s'", #"a == "it's""#), (#"a == "t\tn\nü\u00e4\\""#, #"a == "t\tn\nüä\\""#),
            ("a == 12", "a == 12"), ("a == -12", "a == -12"), ("a == 1.5", "a == 1.5"),
            ("a == .5e1", "a == 5.0"), ("a == 0x1F", "a == 31"), ("a == - - 1", "a == 1"),
            ("a == 0b101", "a == 5"), ("a == 0o17", "a == 15"), ("a == -0B11", "a == -3"),
            ("a == 0O7", "a == 7"), ("a == 017", "a == 17"),
            ("a == -9223372036854775808", "a == -9223372036854775808"),
            ("a == 9223372036854775808", "a == 9.223372036854776e+18"),
            ("a == 99999999999999999999", "a == 1e+20"),
            ("a == YES", "a == 1"), ("a == true", "a == 1"), ("a == NO", "a == 0"),
            ("a == FALSE", "a == 0"), ("a == nil", "a == nil"), ("a != NULL", "a != nil"),
            ("#in == 1", "#in == 1"), ("SELF.a == 1", "a == 1"), ("a.b == 1", "a.b == 1"),
            ("a IN {}", "a IN {}"), ("{1, b} CONTAINS a", "{1, b} CONTAINS a"),
            (#"a == CAST(5, "NSDate")"#, #"a == CAST(5.0, "NSDate")"#), ("a < now()", "a < now()"),
            ("a + 1 * 2 == 3", "(a + (1 * 2)) == 3"), ("a[0] == 1", "a[0] == 1"),
            ("a == $b", "a == $b"), ("tags.@count == 2", "tags.@count == 2"),
            ("SUBQUERY(a, $x, $x == 1) == 1", "SUBQUERY(a, $x, $x == 1) == 1"),
        ]
    )
    func constants(format: String, expected: String) {
        #expect(read(format) == expected)
    }

    @Test("QUERY-7: arguments of every class replace %@")
    func argumentClasses() throws {
        let date = Date(timeIntervalSinceReferenceDate: 7)
        let location = CLLocation(latitude: 1, longitude: 2)
        let id = CKRecord.ID(recordName: "r")
        let record = CKRecord(recordType: "T", recordID: id)
        let reference = CKRecord.Reference(recordID: id, action: .none)
        let optional: String? = "o"
        let none: String? = nil
        let uuid = UUID()
        let predicate = NSPredicate(
            format: "a IN {%@, %@, %@, %@, %@, %@, %@, %@, %@, %@, %@, %@, %@, %@, %@, %@, %@}",
            argumentArray: [
                "s", "n" as NSString, 1, Int64(2), UInt32(3), Float(0.5), 1.5, CGFloat(2.5), true,
                NSNumber(value: 4), date, date as NSDate, Data([1]), location, id, record,
                reference,
                optional as Any, none as Any, NSNull(), uuid, ["x", "y"], [1, 2] as NSArray,
            ]
        )
        guard case .comparison(let comparison)? = PredicateTree(predicate),
            case .value(.list(let values)) = comparison.right
        else {
            Issue.record("no list of values")
            return
        }
        #expect(
            values == [
                .scalar(.string("s")), .scalar(.string("n")), .scalar(.int64(1)),
                .scalar(.int64(2)), .scalar(.int64(3)), .scalar(.double(0.5)),
                .scalar(.double(1.5)), .scalar(.double(2.5)), .scalar(.int64(1)),
                .scalar(.int64(4)), .scalar(.date(date)), .scalar(.date(date)),
                .scalar(.bytes(Data([1]))), .scalar(.location(location)), .recordID(id),
                .recordID(id), .scalar(.reference(reference)),
            ]
        )
        #expect(PredicateValue(optional as Any) == .scalar(.string("o")))
        #expect(PredicateValue(none as Any) == .null)
        #expect(PredicateValue(NSNull()) == .null)
        #expect(PredicateValue(uuid) == .other(PredicateObject(uuid)))
        #expect(PredicateValue(["x"]) == .list([.scalar(.string("x"))]))
        #expect(
            PredicateValue([2, 1] as NSArray) == .list([.scalar(.int64(2)), .scalar(.int64(1))]))
        #expect(PredicateValue(Set([2, 1])) == .list([.scalar(.int64(1)), .scalar(.int64(2))]))
    }

    @Test("Formats take their arguments as code for Apple's systems gives them")
    func variadic() {
        let date = Date(timeIntervalSinceReferenceDate: 7) as NSDate
        let id = CKRecord.ID(recordName: "r")
        #expect(
            PredicateTree(
                NSPredicate(
                    format:
                        "%K == %@ AND age > %d AND size < %lld AND w < %.2f AND t > %@ AND x IN %@",
                    "name", "Ann", 5, Int64(6), 1.5, date, ["a", "b"]
                )
            )?.description
                == #"name == "Ann" AND age > 5 AND size < 6 AND w < 1.5 AND "#
                + #"t > CAST(7.0, "NSDate") AND x IN {"a", "b"}"#
        )
        #expect(
            PredicateTree(NSPredicate(format: "recordID == %@", id))
                == PredicateTree(NSPredicate(format: "%2$K == %1$@", id, "recordID"))
        )
        #expect(read("a == '%@'") == #"a == "%@""#)
        #expect(String(format: "%@ %@", "x", NSNumber(value: 5)) == "x 5")
    }

    @Test(
        "What is no format is refused with what was expected, and where",
        arguments: [
            ("", "expected a field or a value at character 0"),
            ("a", "expected an operator such as == or CONTAINS at character 1"),
            ("a ==", "expected a field or a value at character 4"),
            ("a == 'x", "the text has no end at character 5"),
            ("ü == 'x", "the text has no end at character 5"),
            ("a == 1 b", "expected AND, OR or the end at character 7"),
            ("(a == 1", "expected ')' at character 7"),
            ("a == %@", "0 arguments were given, and none for what stands at character 5"),
            ("a == ?", "'?' has no meaning at character 5"),
            ("AND == 1", "expected a field or a value, not AND at character 0"),
            ("a ==[x] 1", "expected the options c, d, l and n at character 5"),
            (
                "a == (b == 1)",
                "expected a field or a value, not a predicate, before this at character 13"
            ),
            ("a IN {1,}", "expected a field or a value at character 8"),
            ("a == 0b12", "expected a number of base 2 at character 5"),
            ("a == 0o", "expected a number of base 8 at character 5"),
            (
                #"a == "\uD800""#,
                #"the text has a \u that is not followed by a character's code at character 5"#
            ),
        ]
    )
    func malformed(format: String, reason: String) {
        #expect(failure(format) == "Unable to parse the format string \"\(format)\": \(reason).")
    }

    @Test("A sign before an argument turns it round, also the lowest number")
    func negatedArguments() {
        #expect(read("a > -%@", NSNumber(value: 5)) == "a > -5")
        #expect(read("a > --%@", NSNumber(value: Int64.min)) == "a > -9223372036854775808")
        #expect(read("a > -%@", NSNumber(value: Int64.min)) == "a > 9.223372036854776e+18")
    }

    @Test("Numbers and dates no format can express are shown in angle brackets")
    func valuesBeyondFormats() {
        #expect(read("a == %@", Double.infinity) == "a == <inf>")
        #expect(read("a == -%@", Double.infinity) == "a == <-inf>")
        #expect(read("a == %@", Double.nan) == "a == <nan>")
        let date = Date(timeIntervalSinceReferenceDate: .infinity)
        #expect(read("a == %@", date) == "a == <Date: inf>")
        #expect(read("ID == -inf") == "ID == (0 - inf)")
    }

    @Test("Arguments of the wrong kind are refused")
    func wrongArguments() {
        #expect(failure("%K == 1", [5])?.contains("%K needs the name of a field, not 5") == true)
        #expect(failure("a == %d", ["x"])?.contains("%d needs a number, not \"x\"") == true)
    }

    @Test("Nesting and calculations have bounds")
    func bounds() {
        func nested(_ count: Int) -> String {
            String(repeating: "(", count: count) + "a == 1" + String(repeating: ")", count: count)
        }
        #expect(failure(nested(63)) == nil)
        #expect(failure(nested(64))?.contains("nested deeper than 64 levels") == true)
        #expect(failure(nested(100_000))?.contains("nested deeper than 64 levels") == true)
        let not = String(repeating: "!", count: 100_000)
        #expect(failure(not + "a == 1")?.contains("nested deeper than 64 levels") == true)
        let sum = String(repeating: "1+", count: 65) + "1"
        #expect(failure("a == " + sum)?.contains("more than 64 calculations") == true)
        #expect(failure("a == " + String(repeating: "-", count: 100_000) + "1") == nil)
    }

    @Test("A malformed format ends the program with a sentence, as Apple's exception does")
    func malformedEndsProgram() async {
        await #expect(processExitsWith: .failure) {
            _ = NSPredicate(format: "a ==")
        }
    }

    @Test("A predicate made of a format survives a copy, and constants are constants")
    func copies() throws {
        let predicate = NSPredicate(format: "a == 1")
        let copy = try #require(predicate.copy() as? NSPredicate)
        #expect(PredicateTree(copy) == PredicateTree(predicate))
        #expect(PredicateTree(NSPredicate(format: "TRUEPREDICATE")) == .constant(true))
        #expect(PredicateTree(NSPredicate(value: false)) == .constant(false))
        #expect(PredicateTree(NSPredicate { _, _ in true }) == nil)
    }

    @Test("Compounds of formats are their trees")
    func compounds() {
        let parts = [NSPredicate(format: "a == 1"), NSPredicate(format: "b == 2")]
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: parts)
        #expect(PredicateTree(both)?.description == "a == 1 AND b == 2")
        let not = NSCompoundPredicate(notPredicateWithSubpredicate: parts[0])
        #expect(PredicateTree(not)?.description == "NOT (a == 1)")
        let withBlock = NSCompoundPredicate(
            andPredicateWithSubpredicates: parts + [NSPredicate { _, _ in true }]
        )
        #expect(PredicateTree(withBlock) == nil)
        var deep = parts[0]
        for _ in 0..<600 { deep = NSCompoundPredicate(notPredicateWithSubpredicate: deep) }
        #expect(PredicateTree(deep) == nil)
    }
}

/// What has a format.
private protocol FormatTelling {
    var predicateFormat: String { get }
}

extension NSPredicate: FormatTelling {}
