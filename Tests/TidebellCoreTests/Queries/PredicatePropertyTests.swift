// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("Predicates against a plain model")
struct PredicatePropertyTests {
    @Test("QUERY-2 to QUERY-10: the evaluator agrees with the plain rules, filter by filter")
    func evaluator() {
        let seed = UInt64.random(in: .min ... .max)
        var random = RandomPredicates(seed: seed)
        var passed = 0
        for round in 0..<10_000 {
            let (record, filters) = (random.record(), random.filters())
            let failing = filters.first { !PlainFilter(filter: $0).passes(record) }
            let verdict = record.verdict(on: filters)
            let agrees =
                switch verdict {
                case .matches: failing == nil
                case .failed(let filter, _): failing == filter
                }
            guard agrees else {
                Issue.record("seed \(seed), round \(round): \(verdict), \(record), \(filters)")
                return
            }
            if failing == nil, !filters.isEmpty { passed += 1 }
        }
        // The world is small enough for predicates to hold now and then.
        #expect(passed > 250, "seed \(seed)")
    }
}
