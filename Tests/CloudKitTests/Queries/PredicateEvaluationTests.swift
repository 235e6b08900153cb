// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import Foundation
import Testing

@testable import CloudKit

@Suite("Predicates asked of objects in memory")
struct PredicateEvaluationTests {
    private final class Person: NSObject {
        let name = "Ann"
        let friends = ["Ben", "Cem"]
    }

    private var record: CKRecord {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "r"))
        record["title"] = "Über Äpfel"
        record["size"] = 5
        record["lines"] = "one\n"
        record["tags"] = ["a", "b"]
        record["place"] = CLLocation(latitude: 1, longitude: 2)
        record["folder"] = CKRecord.Reference(
            recordID: CKRecord.ID(recordName: "f"), action: .none)
        return record
    }

    @Test(
        "A record matches as Foundation's predicates do",
        arguments: [
            ("size == 5", true), ("size == 5.0", true), ("size != 5", false), ("size < 6", true),
            ("size >= 6", false), ("size BETWEEN {5, 6}", true), ("size IN {1, 5}", true),
            ("size + 1 == 6", true), ("size / 2 == 2", true), ("missing == nil", true),
            ("missing == 1", false), ("missing < 1", false), ("title == 'über äpfel'", false),
            ("title ==[cd] 'uber apfel'", true), ("title CONTAINS 'Äpf'", true),
            ("title BEGINSWITH[c] 'ÜBER'", true), ("title ENDSWITH 'fel'", true),
            ("title LIKE 'Ü*f?l'", true), ("title LIKE 'Ü*x'", false),
            ("title MATCHES '.+ .+'", true),
            ("title MATCHES '('", false), ("title MATCHES 'Ü|Über.*'", true),
            ("title MATCHES '(?x) .+ \\\\s .+ # two words'", true),
            ("title MATCHES '(?x) .+ \\\\s x # two words'", false),
            ("title MATCHES '\\\\QÜber Äpfel'", true), ("title MATCHES '\\\\QÜber'", false),
            ("title MATCHES 'x)|(?:Ü'", false), ("title MATCHES[c] 'ÜBER .*'", true),
            ("lines MATCHES 'one'", false), ("lines MATCHES 'one\n'", true),
            ("lines MATCHES '(?m)^one$'", false), ("lines MATCHES 'one$'", false),
            ("title TOKENMATCHES 'apfel'", true),
            ("tags CONTAINS 'a'", true), ("'c' IN tags", false), ("ANY tags == 'b'", true),
            ("ALL tags == 'b'", false), ("NONE tags == 'c'", true), ("tags.@count == 2", true),
            ("tags[0] == 'a'", true), ("tags == {'a', 'b'}", true), ("tags > 1", false),
            ("size == 4 OR NOT (size == 6)", true), ("size == 5 AND size == 6", false),
            ("recordType == 'Note'", true), ("now() > CAST(0, 'NSDate')", true),
        ]
    )
    func records(format: String, expected: Bool) {
        #expect(NSPredicate(format: format).evaluate(with: record) == expected)
    }

    @Test("QUERY-9, QUERY-10: locations and links compare by what they mean")
    func objects() {
        let here = CLLocation(latitude: 1, longitude: 2)
        let format = "distanceToLocation:fromLocation:(place, %@) < 10"
        #expect(NSPredicate(format: format, here).evaluate(with: record))
        let away = CLLocation(latitude: 2, longitude: 2)
        #expect(!NSPredicate(format: format, away).evaluate(with: record))
        let folder = CKRecord.ID(recordName: "f")
        #expect(NSPredicate(format: "folder == %@", folder).evaluate(with: record))
        #expect(NSPredicate(format: "SELF == %@", record.recordID).evaluate(with: record))
    }

    @Test("Dictionaries, objects, elements of arrays and variables can be asked")
    func others() {
        let rows: [[String: Any]] = [["a": ["b": 1]], ["a": ["b": 2]]]
        let predicate = NSPredicate(format: "a.b == %d", 2)
        #expect(rows.map { predicate.evaluate(with: $0) } == [false, true])
        #expect(NSPredicate(format: "name == 'Ann'").evaluate(with: Person()))
        #expect(NSPredicate(format: "ANY friends BEGINSWITH 'C'").evaluate(with: Person()))
        #expect(NSPredicate(format: "SELF > 1").evaluate(with: 2))
        let variable = NSPredicate(format: "SELF == $x")
        #expect(variable.evaluate(with: 2, substitutionVariables: ["x": 2]))
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [
            NSPredicate(format: "SELF > 1"), NSPredicate(format: "SELF < 3"),
        ])
        #expect([1, 2, 3].map { both.evaluate(with: $0) } == [false, true, false])
        let id = UUID()
        #expect(NSPredicate(format: "SELF == %@", id as any CVarArg).evaluate(with: id))
    }
}
