// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import Foundation
import Testing

@testable import CloudKit

@Suite("Which predicates CloudKit takes")
struct PredicateRuleTests {
    /// What is asked of the server, as a predicate written in one way, or why nothing is.
    private func asked(_ format: String, _ arguments: [Any] = []) throws -> String {
        let tree = try PredicateParser.parse(format, arguments)
        do {
            return PredicateTree(try tree.terms()).description
        } catch {
            return error.reason
        }
    }

    @Test(
        "QUERY-2 to 5: what means the same is asked the same way",
        arguments: [
            ("TRUEPREDICATE", "TRUEPREDICATE"), ("FALSEPREDICATE", "FALSEPREDICATE"),
            ("a == 1", "a == 1"), ("1 == a", "a == 1"), ("1 < a", "a > 1"), ("1 >= a", "a <= 1"),
            ("a ==[c] 'x'", #"a == "x""#), ("a BETWEEN {1, 2}", "a >= 1 AND a <= 2"),
            ("a == 1 AND (b == 2 AND c != 3)", "a == 1 AND b == 2 AND c != 3"),
            ("a == 1 AND TRUEPREDICATE", "a == 1"), ("a IN {1, 2}", "a IN {1, 2}"),
            ("{1, 2} CONTAINS a", "a IN {1, 2}"), ("tags CONTAINS 'x'", #"tags CONTAINS "x""#),
            ("'x' IN tags", #"tags CONTAINS "x""#), ("ANY tags == 'x'", #"tags CONTAINS "x""#),
            ("SOME tags IN {'x'}", #"ANY tags IN {"x"}"#),
            ("ANY {'x', 'y'} = a", #"a IN {"x", "y"}"#),
            ("ANY {'x'} IN tags", #"ANY tags IN {"x"}"#),
            ("ANY tags BEGINSWITH 'x'", #"ANY tags BEGINSWITH "x""#),
            ("a BEGINSWITH 'x'", #"a BEGINSWITH "x""#),
            ("self CONTAINS 'x y'", #"SELF CONTAINS "x y""#),
            ("allTokens TOKENMATCHES[cdl] 'x'", #"allTokens TOKENMATCHES "x""#),
            (
                "ALL tokenize:using:('x', 'Cdl') IN allTokens",
                #"allTokens TOKENMATCHES "x""#
            ),
            (
                "ANY tokenize:using:('x', 'Cdl') IN self",
                #"SELF CONTAINS "x""#
            ),
        ]
    )
    func sameMeaning(format: String, expected: String) throws {
        #expect(try asked(format) == expected)
    }

    @Test(
        "QUERY-4: NOT becomes the opposite comparison",
        arguments: [
            ("NOT a == 1", "a != 1"), ("NOT a != 1", "a == 1"), ("NOT a < 1", "a >= 1"),
            ("NOT a <= 1", "a > 1"), ("NOT a > 1", "a <= 1"), ("NOT a >= 1", "a < 1"),
            ("NOT a IN {1}", "NOT (a IN {1})"), ("NOT tags CONTAINS 1", "NOT (tags CONTAINS 1)"),
            ("NOT ANY tags IN {1}", "NOT (ANY tags IN {1})"),
            ("NOT a BEGINSWITH 'x'", #"NOT (a BEGINSWITH "x")"#),
            ("NOT ANY a BEGINSWITH 'x'", #"NOT (ANY a BEGINSWITH "x")"#),
            ("NOT NOT a == 1", "a == 1"), ("NOT TRUEPREDICATE", "FALSEPREDICATE"),
        ]
    )
    func negations(format: String, expected: String) throws {
        #expect(try asked(format) == expected)
    }

    @Test(
        "QUERY-6: system fields go by the names of their properties and by those of the schema",
        arguments: [
            ("recordID", "___recordID"), ("creationDate", "___createTime"),
            ("modificationDate", "___modTime"), ("creatorUserRecordID", "___createdBy"),
            ("lastModifiedUserRecordID", "___modifiedBy"), ("parent", "___parent"),
            ("share", "___share"),
        ]
    )
    func systemFields(property: String, schema: String) throws {
        #expect(try asked("\(property) == 1") == "\(property) == 1")
        #expect(try asked("%K == 1", [schema]) == "\(property) == 1")
    }

    @Test("QUERY-9: a distance is a search inside a radius, however it is written")
    func distances() throws {
        let location = CLLocation(latitude: 1, longitude: 2)
        let expected = [
            "distanceToLocation:fromLocation:(p, %@) < 500",
            "distanceToLocation:fromLocation:(p, %@) <= 500.0",
            "distanceToLocation:fromLocation:(%@, p) < 500",
            "500 > distanceToLocation:fromLocation:(p, %@)",
        ].map { format in try? PredicateParser.parse(format, [location]).terms() }
        #expect(Set(expected.map(\.?.description)).count == 1)
        #expect(expected[0]?.count == 1)
        #expect(expected[0]?[0].distance == 500)
        #expect(
            try asked("distanceToLocation:fromLocation:(p, %@) > 500", [location])
                .hasSuffix("write distanceToLocation:fromLocation:(field, %@) < radius in metres.")
        )
        #expect(
            try asked("distanceToLocation:fromLocation:(p, 'x') < 500")
                .hasPrefix("A distance is measured between a field and a CLLocation")
        )
    }

    @Test(
        "QUERY-3 to 7: what CloudKit refuses is refused, with what to write instead",
        arguments: [
            ("a == 1 OR b == 2", "OR is not supported by CloudKit."),
            ("NOT (a == 1 AND b == 2)", "NOT around AND is not supported by CloudKit."),
            ("NOT (a == 1 OR b == 2)", "OR is not supported by CloudKit: write NOT a AND NOT b"),
            ("NOT a BETWEEN {1, 2}", "NOT around 'a BETWEEN {1, 2}' is not supported"),
            ("NOT self CONTAINS 'x'", #"NOT around 'SELF CONTAINS "x"' is not supported"#),
            ("ALL tags IN {1}", "ALL in 'ALL tags IN {1}' is not supported by CloudKit."),
            ("NONE tags IN {1}", "NONE in 'NONE tags IN {1}' is not supported by CloudKit."),
            ("ANY tags > 1", "ANY takes IN, CONTAINS, == and BEGINSWITH in CloudKit, not >"),
            ("a ENDSWITH 'x'", #"ENDSWITH in 'a ENDSWITH "x"' is not supported by CloudKit."#),
            ("a LIKE 'x'", #"LIKE in 'a LIKE "x"' is not supported by CloudKit."#),
            ("a MATCHES 'x'", #"MATCHES in 'a MATCHES "x"' is not supported by CloudKit."#),
            ("a CONTAINS[cd] 'x'", "The options [cd] in"),
            ("a BEGINSWITH[c] 'x'", "The options [c] in"),
            ("a.b == 1", "'a.b' is a key path."), ("_a == 1", "'_a' is not the name of a field"),
            ("ä == 1", "'ä' is not the name of a field"),
            ("a == b", "'a == b' compares two fields."),
            ("1 == 1", "'1 == 1' names no field to compare."),
            ("a == nil", "'a == nil' compares with nil, which CloudKit does not support."),
            ("a == {1}", "'a == {1}' compares with a list."),
            ("a IN 1", "IN in 'a IN 1' needs a list"),
            ("a BEGINSWITH 1", "BEGINSWITH in 'a BEGINSWITH 1' needs a text."),
            ("a BETWEEN {1}", "BETWEEN needs a list of two values"),
            ("a IN {{1}}", "A list in a list cannot be compared"),
            ("a == $b", "'$b' is not supported"),
            ("a + 1 == 2", "'(a + 1)' is not supported by CloudKit."),
            ("SELF == 1", "SELF in 'SELF == 1' is not supported by CloudKit"),
            ("'x' BEGINSWITH a", #"'"x" BEGINSWITH a' needs its field on the left."#),
            ("self CONTAINS 1", "'SELF CONTAINS 1' is not a search for words that CloudKit"),
        ]
    )
    func refusals(format: String, reason: String) throws {
        let text = try asked(format)
        #expect(text.hasPrefix(reason), "\(text)")
    }

    @Test("QUERY-7: values of other classes are refused, by the name of the class")
    func otherClasses() throws {
        let asset = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/x"))
        #expect(try asked("a == %@", [UUID()]).hasPrefix("A value of type UUID cannot be compared"))
        #expect(try asked("a == %@", [asset]).hasPrefix("CloudKit cannot compare assets"))
        #expect(
            try asked("a == %@", [Double.nan]) == "nan is not a number that CloudKit can compare.")
    }

    @Test("QUERY-7: a date that is none and a location that is none are refused")
    func valuesThatAreNone() throws {
        for interval in [Double.nan, .infinity, -.infinity] {
            let date = Date(timeIntervalSinceReferenceDate: interval)
            let noDate = "<Date: \(interval)>' compares with an invalid date."
            #expect(try asked("a < %@", [date]) == "'a < \(noDate)")
            #expect(try asked("a BETWEEN {%@, 1}", [date]).hasSuffix(" with an invalid date."))
            let noLocation = "compares with an invalid location."
            let location = CLLocation(latitude: interval, longitude: 0)
            #expect(try asked("a == %@", [location]).hasSuffix(noLocation))
            let near = "distanceToLocation:fromLocation:(a, %@) < 5"
            #expect(try asked(near, [location]).hasSuffix(noLocation))
        }
    }

    @Test("QUERY-10: a record, its ID and references to it are the same value")
    func references() throws {
        let id = CKRecord.ID(recordName: "r")
        let values: [Any] = [
            id, CKRecord(recordType: "T", recordID: id),
            CKRecord.Reference(recordID: id, action: .none),
            CKRecord.Reference(recordID: id, action: .deleteSelf),
        ]
        let terms = try values.map { try PredicateParser.parse("a == %@", [$0]).terms() }
        #expect(Set(terms).count == 1)
    }

    @Test("Predicates whose parts stand in another order are equal, as are their subscriptions")
    func order() {
        func isEqual(_ left: String, _ right: String) -> Bool {
            PredicateArchive.isEqual(NSPredicate(format: left), NSPredicate(format: right))
        }
        #expect(isEqual("a > 1 AND b = 2", "b = 2 AND 1 < a"))
        #expect(isEqual("a > 1 AND b = 2 AND b = 2", "b = 2 AND 1 < a"))
        #expect(isEqual("a > 1 AND (b = 2 AND c = 3)", "(c = 3 AND a > 1) AND b = 2"))
        #expect(!isEqual("a > 1 AND b = 2", "b = 2"))
        #expect(!isEqual("a > 1 AND b = 2", "b = 1 AND a > 2"))
        let subscriptions = ["a > 1 AND b = 2", "b = 2 AND 1 < a"].map { format in
            CKQuerySubscription(
                recordType: "Note",
                predicate: NSPredicate(format: format),
                subscriptionID: "s",
                options: .firesOnRecordCreation
            )
        }
        #expect(subscriptions[0] == subscriptions[1])
        #expect(Set(subscriptions).count == 1)
    }

    @Test("Predicates that ask the same are equal; those made of blocks only when they are one")
    func equality() {
        func isEqual(_ left: NSPredicate, _ right: NSPredicate) -> Bool {
            PredicateArchive.isEqual(left, right)
        }
        let block = NSPredicate { _, _ in true }
        #expect(isEqual(NSPredicate(format: "a == 1"), NSPredicate(format: "1 = a")))
        #expect(!isEqual(NSPredicate(format: "a == 1"), NSPredicate(format: "a == 2")))
        #expect(isEqual(NSPredicate(format: "a LIKE 'x'"), NSPredicate(format: "a LIKE 'x'")))
        #expect(!isEqual(NSPredicate(format: "a LIKE 'x'"), NSPredicate(format: "a LIKE 'y'")))
        #expect(isEqual(NSPredicate(format: "a < now()"), NSPredicate(format: "a < now()")))
        #expect(isEqual(block, block))
        #expect(!isEqual(block, NSPredicate { _, _ in true }))
        #expect(!isEqual(block, NSPredicate(value: true)))
    }
}
