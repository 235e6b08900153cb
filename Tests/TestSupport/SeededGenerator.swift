// SPDX-License-Identifier: Apache-2.0

/// The chance of all tests: its whole sequence follows from a seed, which a failure prints
/// (SplitMix64).
///
/// Seeds that once failed are written down in tests and in `Tests/BUGS.md`: what is drawn here
/// must stay as it is.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Begins the sequence of a seed.
    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 on that is less than `bound`.
    package mutating func below(_ bound: Int) -> Int {
        Int.random(in: 0..<bound, using: &self)
    }

    /// Returns true once in `count` times.
    package mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    /// Returns true in `percent` of a hundred cases.
    package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    /// Returns one of the choices.
    package mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
        choices[below(choices.count)]
    }

    /// Returns one of the choices, each with the probability of its weight.
    package mutating func pick<Choice>(
        weighted choices: [(weight: Int, choice: Choice)]
    ) -> Choice {
        var offset = below(choices.map(\.weight).reduce(0, +))
        for (weight, choice) in choices {
            if offset < weight { return choice }
            offset -= weight
        }
        preconditionFailure("weights add up")
    }

    /// Returns up to `count` different choices in any order, at least one.
    package mutating func some<Choice>(of choices: [Choice], atMost count: Int) -> [Choice] {
        Array(choices.shuffled(using: &self).prefix(Int.random(in: 1...count, using: &self)))
    }

    /// Returns nil or a value of `body`, each half of the time.
    package mutating func maybe<Value>(_ body: (inout Self) -> Value) -> Value? {
        oneIn(2) ? nil : body(&self)
    }

    /// Returns up to `limit` values of `body`.
    package mutating func list<Value>(upTo limit: Int, _ body: (inout Self) -> Value) -> [Value] {
        (0..<below(limit + 1)).map { _ in body(&self) }
    }
}
