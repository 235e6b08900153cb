// SPDX-License-Identifier: Apache-2.0

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
        // No mark has less than two bytes, the first of them at least this one.
        guard utf8.count > 2 * Self.longestMarkRun, utf8.contains(where: { $0 >= 0xCC }),
            hasLongMarkRun
        else { return self }
        var table = UnicodeTable()
        var writer = CanonicalWriter(capacity: utf8.count)
        // A letter and its marks.
        var piece: [Unicode.Scalar] = []
        var marks = 0
        func end() {
            // In a long run the marks that are written into the letter take part.
            for scalar in piece {
                if marks > Self.longestMarkRun {
                    writer.append(scalar)
                } else {
                    writer.copy(scalar)
                }
            }
        }
        for scalar in unicodeScalars {
            if table.combiningClass(of: scalar) > 0 {
                marks += 1
            } else {
                end()
                piece.removeAll(keepingCapacity: true)
                marks = 0
            }
            piece.append(scalar)
        }
        end()
        return String(decoding: writer.finish(), as: UTF8.self)
    }

    private var hasLongMarkRun: Bool {
        var table = UnicodeTable()
        var run = 0
        for scalar in unicodeScalars {
            run = table.combiningClass(of: scalar) > 0 ? run + 1 : 0
            if run > Self.longestMarkRun { return true }
        }
        return false
    }
}
