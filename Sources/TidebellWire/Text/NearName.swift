// SPDX-License-Identifier: Apache-2.0

/// What a name that nobody knows was probably meant to be.
package enum NearName {
    /// The longest names that are compared, in bytes: more is no misspelling.
    static let longest = 64

    /// Returns the name that is nearest to a misspelled one; nil where none is near: a letter in three may
    /// be missing, added, another one, or in the place of its neighbour, whatever its case.
    package static func of(_ name: String, among names: some Sequence<String>) -> String? {
        let wanted = Array(name.lowercased().utf8)
        guard wanted.count <= longest else { return nil }
        let most = max(1, wanted.count / 3)
        let near = names.compactMap { name -> (name: String, distance: Int)? in
            let other = Array(name.lowercased().utf8)
            // The lengths alone show most names to be others.
            guard other.count <= longest, abs(other.count - wanted.count) <= most else {
                return nil
            }
            let distance = distance(wanted, other)
            return distance <= most ? (name, distance) : nil
        }
        // Of equally near ones always the same.
        return near.min { ($0.distance, $0.name) < ($1.distance, $1.name) }?.name
    }

    /// How many letters are to be added, removed, replaced or exchanged with the next one.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var before: [Int] = []
        var row = Array(0...right.count)
        for (line, letter) in left.enumerated() {
            var next = [line + 1]
            next.reserveCapacity(row.count)
            for (column, other) in right.enumerated() {
                var least = min(
                    row[column] + (letter == other ? 0 : 1), row[column + 1] + 1, next[column] + 1)
                if line > 0, column > 0, letter == right[column - 1], left[line - 1] == other {
                    least = min(least, before[column - 1] + 1)
                }
                next.append(least)
            }
            (before, row) = (row, next)
        }
        return row[right.count]
    }
}
