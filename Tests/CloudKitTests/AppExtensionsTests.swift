// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing

// What apps add to the standard library by themselves. None of it may be ambiguous beside
// what the client's own dependencies add: they are not to be seen through `CloudKit`.

extension Sequence where Element: Hashable {
    fileprivate func uniqued() -> [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}

extension Collection {
    fileprivate func chunks(ofCount count: Int) -> [[Element]] {
        var rest = self[...]
        var result: [[Element]] = []
        while !rest.isEmpty {
            result.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return result
    }

    fileprivate func indexed() -> [(Index, Element)] { Array(zip(indices, self)) }
}

// A container by an extension of the app, which subclasses have too.
extension CKContainer {
    fileprivate static func ofTests() -> Self { Self(identifier: "iCloud.org.example.tests") }
}

@Suite struct AppExtensionsTests {
    @Test("A container is created from its metatype")
    func metatype() {
        let type: CKContainer.Type = CKContainer.self
        let identifier = "iCloud.org.example"
        #expect(type.init(identifier: identifier).containerIdentifier == identifier)
        #expect(CKContainer.ofTests().containerIdentifier == "iCloud.org.example.tests")
    }

    @Test("An app's own extensions are not ambiguous beside those of our dependencies")
    func notAmbiguous() {
        let ids = ["a", "b", "a"].map { CKRecord.ID(recordName: $0) }
        #expect(ids.uniqued().map(\.recordName) == ["a", "b"])
        #expect(ids.chunks(ofCount: 2)[1].map(\.recordName) == ["a"])
        #expect(ids.indexed().map { $0.0 } == [0, 1, 2])
    }

    @Test("An initializer of Foundation that is named without its labels is not ambiguous")
    func unlabelled() {
        let record = CKRecord(recordType: "Conference")
        record["website"] = "https://example.com"
        let website: URL? = record["website"].flatMap(URL.init)
        #expect(website?.host == "example.com")
        #expect(["https://example.org"].compactMap(URL.init).first?.host == "example.org")
    }
}
