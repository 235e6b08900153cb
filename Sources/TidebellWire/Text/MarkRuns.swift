// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Marks that combine with the letter before them may stand in any number and order, and
/// what compares, hashes or normalizes a string puts each run of them in order, in a time
/// that grows with the square of the run. The runs of a text that comes from elsewhere are
/// therefore put in order once, when it is read.
///
/// The other order is another spelling of the same string: canonically equivalent, equal to
/// `==`, for predicates and in every index. Texts that people write keep their bytes.
extension String {
    /// The most marks in a run that stays as it is: the bound of Unicode's Stream-Safe Text
    /// Format (UAX #15), which no language comes near.
    package static let longestMarkRun = 30

    /// Returns the string with every run of more than ``longestMarkRun`` marks, and the
    /// letter before it, in canonical decomposition; takes a time that grows with the length.
    package var withOrderedMarks: String {
        // No mark has less than two bytes.
        guard utf8.count > 2 * Self.longestMarkRun, hasLongMarkRun else { return self }
        var ordered = UnicodeScalarView()
        var piece: [Unicode.Scalar] = []
        for scalar in unicodeScalars {
            if !scalar.isMark {
                ordered.append(contentsOf: Self.ordered(piece))
                piece.removeAll(keepingCapacity: true)
            }
            piece.append(scalar)
        }
        ordered.append(contentsOf: Self.ordered(piece))
        return String(ordered)
    }

    private var hasLongMarkRun: Bool {
        var run = 0
        for scalar in unicodeScalars {
            run = scalar.isMark ? run + 1 : 0
            if run > Self.longestMarkRun { return true }
        }
        return false
    }

    /// Returns a letter and its marks in order, if the marks are many.
    private static func ordered(_ piece: [Unicode.Scalar]) -> [Unicode.Scalar] {
        let letters = piece.first?.isMark == false ? 1 : 0
        guard piece.count - letters > longestMarkRun else { return piece }
        // The marks that are written into the letter take part.
        let scalars = piece.enumerated().flatMap { index, scalar in
            index == 0 || scalar.isWrittenAsOthers ? scalar.decomposed : [scalar]
        }
        let start = scalars.firstIndex { $0.isMark } ?? scalars.endIndex
        var classes = [[Unicode.Scalar]](repeating: [], count: 256)
        for mark in scalars[start...] {
            classes[Int(mark.properties.canonicalCombiningClass.rawValue)].append(mark)
        }
        return Array(scalars[..<start]) + classes.joined()
    }
}

extension Unicode.Scalar {
    /// Whether it combines with the scalar before it, in an order of its own.
    fileprivate var isMark: Bool {
        value >= 0x300 && properties.canonicalCombiningClass != .notReordered
    }

    /// Whether it is one of the few marks that are other ones in canonical form.
    fileprivate var isWrittenAsOthers: Bool { (0x340...0x344).contains(value) }

    fileprivate var decomposed: [Unicode.Scalar] {
        Array(String(self).decomposedStringWithCanonicalMapping.unicodeScalars)
    }
}
