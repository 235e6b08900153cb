// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("References with consequences")
struct ReferenceTests {
    private let owned = { (owners: String...) -> [String: Field?] in
        let fields = owners.map {
            ("by\($0)", Field(.reference(WireReference(recordName: $0, action: .deleteSelf))))
        }
        return Dictionary(uniqueKeysWithValues: fields)
    }

    /// A bench with a zone, and a call that allows three references to one record.
    private func bench() async throws -> (bench: Bench, call: Call) {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        var limits = Limits()
        limits.deleteSelfReferences = 3
        return (bench, bench.call(limits: limits))
    }

    @Test("REF-4, LIMIT-7: 750 records may refer to one with deleteSelf, not more")
    func theLimit() { #expect(Limits().deleteSelfReferences == 750) }

    @Test("REF-4: one reference too many is limitExceeded, and names the target")
    func tooMany() async throws {
        let (bench, call) = try await bench()
        try await bench.modify(
            .save(.create, "a", fields: owned("x")), .save(.create, "b", fields: owned("x")),
            call: call
        )
        let results = try await bench.modify(
            .save(.create, "c", fields: owned("x")), .save(.create, "d", fields: owned("x")),
            atomic: false, call: call
        )
        #expect(results.map(\.summary).first == "c")
        let error = try #require(results.last?.error)
        #expect(error.code == .badRequest)
        #expect(error.detail?.ckCode == 27)
        #expect(
            error.reason == "more than 3 records refer to record 'x' with DELETE_SELF; "
                + "refer to it without an action, or to several records"
        )
    }

    @Test("REF-4: who refers already may be saved again, and other targets have room")
    func savedAgain() async throws {
        let (bench, call) = try await bench()
        try await bench.modify(
            .save(.create, "a", fields: owned("x")), .save(.create, "b", fields: owned("x")),
            .save(.create, "c", fields: owned("x")), call: call
        )
        let results = try await bench.modify(
            .save(.forceUpdate, "a", title: "again", fields: owned("x", "y")),
            .save(.create, "d", fields: owned("y")), call: call
        )
        #expect(results.compactMap(\.error) == [])
        try await bench.modify(.forceDelete("b"), call: call)
        let next = try await bench.modify(.save(.create, "e", fields: owned("x")), call: call)
        #expect(next.compactMap(\.error) == [])
    }

    @Test("REF-2: of several owners the first that goes takes the record along; cycles end")
    func ownersAndCycles() async throws {
        let (bench, call) = try await bench()
        try await bench.modify(
            .save(.create, "a"), .save(.create, "b"), .save(.create, "c", fields: owned("a", "b")),
            .save(.create, "d", fields: owned("c", "e")), .save(.create, "e", fields: owned("d")),
            call: call
        )
        try await bench.modify(.forceDelete("b"), call: call)
        let left = try await bench.lookup("a", "b", "c", "d", "e").map { $0.error?.code }
        #expect(left == [nil, .notFound, .notFound, .notFound, .notFound])
    }
}
