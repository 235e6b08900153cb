// SPDX-License-Identifier: Apache-2.0

/// Chance that a seed decides (SplitMix64).
struct Dice: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns true in `percent` of a hundred cases.
    mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &self) < percent
    }

    /// Returns one of the choices.
    mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
        choices[Int.random(in: choices.indices, using: &self)]
    }

    /// Returns one of the choices, each as likely as its weight says.
    mutating func pick<Choice>(weighted choices: [(weight: Int, choice: Choice)]) -> Choice {
        var place = Int.random(in: 0..<choices.map(\.weight).reduce(0, +), using: &self)
        for (weight, choice) in choices {
            if place < weight { return choice }
            place -= weight
        }
        preconditionFailure("weights add up")
    }

    /// Returns up to `count` different choices in any order, at least one.
    mutating func some<Choice>(of choices: [Choice], atMost count: Int) -> [Choice] {
        Array(choices.shuffled(using: &self).prefix(Int.random(in: 1...count, using: &self)))
    }
}
