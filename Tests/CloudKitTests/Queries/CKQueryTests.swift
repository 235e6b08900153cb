// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import Foundation
import Testing

@testable import CloudKit

@Suite("Queries and their order")
struct CKQueryTests {
    private func roundTrip<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object {
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: object, requiringSecureCoding: true)
        return try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data))
    }

    private var query: CKQuery {
        let query = CKQuery(
            recordType: "Note",
            predicate: NSPredicate(format: "title BEGINSWITH %@ AND size IN %@", "x", [1, 2])
        )
        query.sortDescriptors = [
            NSSortDescriptor(key: "creationDate", ascending: false),
            CKLocationSortDescriptor(
                key: "place", relativeLocation: CLLocation(latitude: 1, longitude: 2)),
        ]
        return query
    }

    @Test("QUERY-1: a query keeps its type and predicate; it has no order of its own")
    func parts() {
        let predicate = NSPredicate(format: "a == 1")
        let query = CKQuery(recordType: "Note", predicate: predicate)
        #expect(query.recordType == "Note")
        #expect(query.predicate === predicate)
        #expect(query.sortDescriptors == nil)
        #expect(
            query.description
                == "<CKQuery: recordType=Note, predicate=a == 1, sortDescriptors=[]>"
        )
    }

    @Test("QUERY-1: an empty record type ends the program")
    func emptyType() async {
        await #expect(processExitsWith: .failure) {
            _ = CKQuery(recordType: "", predicate: NSPredicate(value: true))
        }
    }

    @Test("A copy and an archive have the same parts")
    func copies() throws {
        let original = query
        for copy in [try #require(original.copy() as? CKQuery), try roundTrip(original)] {
            #expect(copy !== original)
            #expect(copy != original)
            #expect(copy.recordType == "Note")
            #expect(PredicateArchive.isEqual(copy.predicate, original.predicate))
            #expect(copy.sortDescriptors?.map(\.key) == ["creationDate", "place"])
            #expect(copy.sortDescriptors?.map(\.ascending) == [false, true])
            let nearest = copy.sortDescriptors?.last as? CKLocationSortDescriptor
            #expect(nearest?.relativeLocation.coordinate.longitude == 2)
        }
        let plain = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        #expect(try roundTrip(plain).sortDescriptors == nil)
    }

    @Test("QUERY-9: a sort descriptor returns its key, survives a copy and an archive, and sorts")
    func sorting() throws {
        let rows: [[String: Any]] = [["n": 2], [:], ["n": 1], ["n": 3]]
        func sorted(_ descriptor: NSSortDescriptor) -> [Int?] {
            rows.sorted { descriptor.compare($0, to: $1) == .orderedAscending }
                .map { $0["n"] as? Int }
        }
        #expect(sorted(NSSortDescriptor(key: "n", ascending: true)) == [nil, 1, 2, 3])
        let down = NSSortDescriptor(key: "n", ascending: false)
        #expect(sorted(down) == [3, 2, 1, nil])
        #expect((down.copy() as? NSSortDescriptor)?.key == "n")
        #expect(NSSortDescriptor(keyPath: \String.count, ascending: true).key == nil)

        let here = CLLocation(latitude: 0, longitude: 0)
        let near = CKLocationSortDescriptor(key: "p", relativeLocation: here)
        let locations = [3.0, 1, 2].map { CLLocation(latitude: $0, longitude: 0) }
        let order = locations.map { ["p": $0] as [String: Any] }
            .sorted { near.compare($0, to: $1) == .orderedAscending }
            .compactMap { ($0["p"] as? CLLocation)?.coordinate.latitude }
        #expect(order == [1, 2, 3])
        let read = try roundTrip(near)
        #expect(read.key == "p")
        #expect(read.ascending)
        #expect(read.relativeLocation == here)
    }

    @Test("QUERY-9: an order that was reversed is still so after an archive")
    func reversedOrder() throws {
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        let here = CLLocation(latitude: 0, longitude: 0)
        let near = CKLocationSortDescriptor(key: "p", relativeLocation: here)
        let down = NSSortDescriptor(key: "n", ascending: false)
        query.sortDescriptors = try [near, down].map {
            try #require($0.reversedSortDescriptor as? NSSortDescriptor)
        }
        let read = try #require(try roundTrip(query).sortDescriptors)
        #expect(read.map(\.ascending) == [false, true])
        #expect(read.map(\.key) == ["p", "n"])
        let locations = [1.0, 3, 2].map { ["p": CLLocation(latitude: $0, longitude: 0)] }
        let order = locations.sorted { read[0].compare($0, to: $1) == .orderedAscending }
            .compactMap { $0["p"]?.coordinate.latitude }
        #expect(order == [3, 2, 1])
        #expect(try roundTrip(query).sortDescriptors?[0].order?.relativeLocation == here)
    }
}
