// SPDX-License-Identifier: Apache-2.0

/// A small random source whose whole sequence follows from its seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
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

    /// Returns a number below `bound`.
    mutating func below(_ bound: Int) -> Int {
        Int.random(in: 0..<bound, using: &self)
    }

    /// Returns true once in `count` times.
    mutating func oneIn(_ count: Int) -> Bool {
        below(count) == 0
    }

    /// Returns one of `choices`.
    mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[below(choices.count)]
    }

    /// Returns nil or a value of `body`, each half of the time.
    mutating func maybe<Value>(_ body: (inout Self) -> Value) -> Value? {
        oneIn(2) ? nil : body(&self)
    }

    /// Returns up to `limit` values of `body`.
    mutating func list<Value>(upTo limit: Int, _ body: (inout Self) -> Value) -> [Value] {
        (0..<below(limit + 1)).map { _ in body(&self) }
    }
}
