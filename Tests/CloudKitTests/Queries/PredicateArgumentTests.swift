// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import Foundation
import Testing

@testable import CloudKit

@Suite("Predicates of C lists and of the macro")
struct PredicateArgumentTests {
    /// The text of a predicate that was made of a C list.
    private func text(_ format: String, _ arguments: any CVarArg...) -> String? {
        withVaList(arguments) { list in
            PredicateTree(NSPredicate(format: format, arguments: list))?.description
        }
    }

    @Test("QUERY-7: numbers of every size in a C list")
    func numbers() {
        #expect(
            text(
                "a == %d AND b == %i AND c == %ld AND d == %lld AND e == %u AND f == %lu",
                -1 as Int32, 2 as Int32, Int.min, Int64.max, UInt32.max, 7 as UInt
            )
                == "a == -1 AND b == 2 AND c == -9223372036854775808 AND d == 9223372036854775807 "
                + "AND e == 4294967295 AND f == 7"
        )
        #expect(text("a < %f AND b > %g", 0.1, -2.5e30) == "a < 0.1 AND b > -2.5e+30")
        #expect(text("a == %x AND b == %hd", 255 as UInt32, 3 as Int16) == "a == 255 AND b == 3")
    }

    @Test("QUERY-7: texts and objects of every class in a C list come as themselves")
    func objects() throws {
        let id = CKRecord.ID(recordName: "r", zoneID: CKRecordZone.ID(zoneName: "Z"))
        let reference = CKRecord.Reference(recordID: id, action: .none)
        let date = Date(timeIntervalSince1970: 1.5)
        let location = CLLocation(latitude: 1, longitude: 2)
        let objects: [any CVarArg] = [
            "text", NSString("ns"), date, date as NSDate, Data([1]), NSNumber(value: 5), id,
            reference, CKRecord(recordType: "T", recordID: id), location, ["a", "b"], Set([1]),
        ]
        for object in objects {
            let format = "%K == %@"
            let expected = NSPredicate(format: format, argumentArray: ["k", object])
            let made = withVaList(["k", object]) { NSPredicate(format: format, arguments: $0) }
            #expect(PredicateTree(made) == PredicateTree(expected), "\(object)")
        }
    }

    @Test("QUERY-7: a C list in another order, with a literal %%, a C string and an empty list")
    func locationsAndTexts() {
        #expect(text("a == %2$@ AND b == %1$ld", 4, "x") == "a == \"x\" AND b == 4")
        #expect(text("a == 'sale'") == "a == \"sale\"")
        let pointers = "c string".withCString { text("a == %s", $0) }
        #expect(pointers == "a == \"c string\"")
    }

    @Test("A C format shows the description of an object, as before")
    func cFormats() {
        let date = Date(timeIntervalSince1970: 0)
        #expect(String(format: "<%@> %d", date, 5) == "<\(date)> 5")
        let zoneID = CKRecordZone.ID(zoneName: "Z")
        #expect(String(format: "%@", zoneID) == zoneID.description)
    }

    // MARK: - The macro

    private final class Note: NSObject {
        let title = ""
        let size = 0
        let ratio = 0.0
        let tags: [String] = []
        let isDone = false
        var length: Int { title.count }
    }

    private func text<Input>(_ predicate: Predicate<Input>) -> String? where Input: NSObject {
        NSPredicate(predicate).flatMap { PredicateTree($0)?.description }
    }

    @Test("QUERY-2: what the macro writes of stored properties is a predicate")
    func macros() {
        let sizes = [1, 2]
        #expect(text(#Predicate<Note> { $0.title == "x" }) == "title == \"x\"")
        #expect(
            text(#Predicate<Note> { $0.size > 1 && $0.size <= 3 && !($0.size == 2) })
                == "(size > 1 AND size <= 3) AND NOT (size == 2)"
        )
        #expect(text(#Predicate<Note> { sizes.contains($0.size) }) == "size IN {1, 2}")
        #expect(text(#Predicate<Note> { $0.tags.contains("red") }) == "\"red\" IN tags")
        #expect(text(#Predicate<Note> { $0.title.starts(with: "a") }) == "title BEGINSWITH \"a\"")
        #expect(text(#Predicate<Note> { (1...3).contains($0.size) }) == "size BETWEEN {1, 3}")
        #expect(text(#Predicate<Note> { $0.isDone }) == "isDone == 1")
        #expect(
            text(#Predicate<Note> { $0.size == 1 || $0.ratio < 0.5 }) == "size == 1 OR ratio < 0.5")
    }

    @Test("QUERY-6: the macro's predicates of records name the system fields that are dates")
    func macrosOfRecords() throws {
        let date = Date(timeIntervalSince1970: 10)
        let made = try #require(
            NSPredicate(
                #Predicate<CKRecord> { $0.modificationDate! > date && $0.creationDate! <= date })
        )
        let expected = NSPredicate(
            format: "modificationDate > %@ AND creationDate <= %@", date as NSDate, date as NSDate)
        #expect(PredicateArchive.isEqual(made, expected))
    }

    @Test("QUERY-2: what has no name, or no operator, gives nil")
    func macrosWithoutNames() {
        #expect(text(#Predicate<Note> { $0.length == 1 }) == nil)
        #expect(text(#Predicate<Note> { $0.title.contains("x") }) == nil)
        #expect(text(#Predicate<Note> { $0.size + 1 == 2 }) == nil)
    }
}
