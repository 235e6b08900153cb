// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// What Unicode defines for scalars, kept by pages of 256, each made when a text first needs it.
///
/// Foundation's normalization of a whole text takes a time that grows with the square of what has
/// accents; of single scalars it is asked once.
struct UnicodeTable {
    /// A mark or letter, and the class that decides where it stands among marks (0: it stays where
    /// it is).
    struct Part: Sendable {
        var scalar: Unicode.Scalar
        var combiningClass: UInt8
    }

    /// What is known of 256 scalars; empty where it is the same for all: nothing.
    private final class Page: Sendable {
        let combiningClasses: [UInt8]
        let decompositions: [[Part]]
        let caseless: [[Unicode.Scalar]]

        init(
            _ combiningClasses: [UInt8], _ decompositions: [[Part]], _ caseless: [[Unicode.Scalar]]
        ) {
            self.combiningClasses = combiningClasses.contains { $0 > 0 } ? combiningClasses : []
            self.decompositions = decompositions.allSatisfy(\.isEmpty) ? [] : decompositions
            self.caseless = caseless.allSatisfy(\.isEmpty) ? [] : caseless
        }
    }

    /// Beyond here no scalar has a case, is a mark, or is written as others.
    private static let end: UInt32 = 0x3_0000
    /// The first scalar that is a mark.
    static let firstMark: UInt32 = 0x300
    private static let plain = Page([], [], [])
    private static let made = Mutex([Page?](repeating: nil, count: Int(end >> 8)))

    private var pages = Self.made.withLock(\.self)
    private var number: UInt32 = .max
    private var page = Self.plain

    /// Returns where a scalar stands among marks; 0 for what is no mark.
    mutating func combiningClass(of scalar: Unicode.Scalar) -> UInt8 {
        guard scalar.value >= Self.firstMark else { return 0 }
        turn(to: scalar)
        return page.combiningClasses.isEmpty ? 0 : page.combiningClasses[Int(scalar.value & 0xFF)]
    }

    /// Returns the scalars that one stands for in canonical form; none for one that stands for
    /// itself.
    mutating func decomposition(of scalar: Unicode.Scalar) -> [Part] {
        turn(to: scalar)
        return page.decompositions.isEmpty ? [] : page.decompositions[Int(scalar.value & 0xFF)]
    }

    /// Returns what a scalar is without its case; none for one that has none.
    mutating func caseless(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        turn(to: scalar)
        return page.caseless.isEmpty ? [] : page.caseless[Int(scalar.value & 0xFF)]
    }

    private mutating func turn(to scalar: Unicode.Scalar) {
        let wanted = scalar.value >> 8
        guard wanted != number else { return }
        number = wanted
        guard scalar.value < Self.end else { return page = Self.plain }
        if let known = pages[Int(wanted)] { return page = known }
        page = Self.makePage(wanted)
        pages[Int(wanted)] = page
        Self.made.withLock { [page] in $0[Int(wanted)] = page }
    }

    private static func makePage(_ number: UInt32) -> Page {
        let scalars = (0..<256).map { Unicode.Scalar(number << 8 | $0) }
        return Page(
            scalars.map { $0?.properties.canonicalCombiningClass.rawValue ?? 0 },
            scalars.map { scalar in
                guard let scalar else { return [] }
                let parts = Array(
                    String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars)
                guard parts != [scalar] else { return [] }
                return parts.map {
                    Part(scalar: $0, combiningClass: $0.properties.canonicalCombiningClass.rawValue)
                }
            },
            scalars.map { scalar in
                guard let scalar else { return [] }
                // Upper case first: it also joins what has two lower cases (σ, ς).
                let lower = scalar.properties.uppercaseMapping.unicodeScalars
                    .map(\.properties.lowercaseMapping).joined()
                let caseless = Array(lower.unicodeScalars)
                return caseless == [scalar] ? [] : caseless
            }
        )
    }
}
