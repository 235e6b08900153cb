// SPDX-License-Identifier: Apache-2.0
import TestSupport
import TidebellWire

extension Planner {
    /// Puts between the steps queries, changes between their pages, and what becomes of indexes.
    ///
    /// Drawn after everything else, so that the other steps of a seed stay what they are.
    mutating func queried(_ steps: [Step]) -> [Step] {
        var all: [Step] = []
        for step in steps {
            all.append(step)
            for _ in 0..<dice.below(3) { all.append(Step(action: queryOrIndexing())) }
        }
        return all
    }

    private mutating func queryOrIndexing() -> Action {
        guard dice.chance(55) else { return .indexing(indexing()) }
        let between = (0..<dice.below(3)).map { _ in
            dice.chance(60) ? modification() : .indexing(indexing())
        }
        return .query(
            writer(), site(), GroupQuery(type: dice.pick(Names.types), filter: queryFilter()),
            isSorted: dice.chance(40), page: 1 + dice.below(3), between: between)
    }

    private mutating func queryFilter() -> Filter? {
        let group = dice.below(4)
        return dice.pick([
            nil, .equals(group), .notEquals(group), .atLeast(group), .among(group, (group + 1) % 4),
        ])
    }

    private mutating func indexing() -> Indexing {
        let (user, site, type) = (dice.below(users), site(), dice.pick(Names.types))
        let name = dice.pick(["value group", "value group", "value version", "value ___recordID"])
        return dice.pick(weighted: [
            (3, .build(user: user, site, type, name, steps: dice.pick([0, 1, 99, 99]))),
            (1, .drop(user: user, site, name, entries: dice.pick([1, 99]))), (1, .maintain),
        ])
    }
}
