// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellCore

@testable import TidebellTestStores

@Suite("Stores of tests")
struct TestStoresTests {
    @Test("A setting that names no engine fails and lists which there are")
    func unknown() {
        let error = #expect(throws: (any Error).self) {
            try TestStores.factory(named: "oracle+twice")
        }
        #expect(
            "\(error.map { "\($0)" } ?? "")"
                == "there is no store engine 'oracle'; there is 'sqlite'.")
    }

    private func withRepeatingStore(_ body: (any OpenedStore) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-repeating-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try TestStores.factory(named: "sqlite+twice").open(in: folder)
        try await body(store)
        try await store.close()
    }

    @Test("A body that runs twice writes once")
    func once() async throws {
        try await withRepeatingStore { store in
            let account = try await store.write(.everything) {
                try $0.createAccount(named: "anna", at: Instant(rawValue: 0))
            }
            let accounts = try await store.read { try $0.accounts() }
            #expect(accounts.map(\.account) == [account])
        }
    }

    @Test("A body that takes chance from elsewhere than its inputs is found, and writes nothing")
    func chance() async throws {
        try await withRepeatingStore { store in
            await #expect(throws: DifferentOutcome.self) {
                try await store.write(.everything) { transaction in
                    _ = try transaction.createAccount(
                        named: UUID().uuidString, at: Instant(rawValue: 0))
                    return try transaction.accountNames()
                }
            }
            let accounts = try await store.read { try $0.accounts() }
            #expect(accounts.isEmpty)
        }
    }

    @Test("A body that fails does so with its own error")
    func failure() async throws {
        struct Refused: Error {}
        try await withRepeatingStore { store in
            await #expect(throws: Refused.self) {
                try await store.write(.everything) { _ in throw Refused() }
            }
        }
    }

    @Test("Equal sets and dictionaries have equal texts")
    func canonical() {
        let numbers = Array(0..<200)
        let one: [Int: Set<Int>] = Dictionary(
            uniqueKeysWithValues: numbers.map { ($0, [$0, -$0]) })
        var other: [Int: Set<Int>] = [:]
        other.reserveCapacity(5000)
        for number in numbers.reversed() { other[number] = [-number, number] }
        #expect(CanonicalText.of(one) == CanonicalText.of(other))
        #expect(CanonicalText.of(one) != CanonicalText.of(other.filter { $0.key > 0 }))
    }
}
