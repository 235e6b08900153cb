// SPDX-License-Identifier: Apache-2.0

/// Finds out what is above records, as far up as it takes.
///
/// However many begin below others, each record on their ways is passed once; of a circle there is
/// nothing above.
struct WaysUp<Found> {
    /// What decides at a record.
    enum Step {
        /// It is found here.
        case found(Found)
        /// It is decided by the record above.
        case up(String)
        /// There is nothing.
        case end
    }

    /// What was found from each record that was passed, nil for nothing.
    private var known: [String: Found?] = [:]

    /// Returns what is found on the way up from a record, itself included; nil for nothing.
    ///
    /// - Parameters:
    ///   - step: What decides at a record, asked for once for each.
    ///   - passing: What the find of the record above is to the one below it.
    mutating func find(
        from name: String, step: (String) -> Step,
        passing: (Found, String) -> Found = { found, _ in found }
    ) -> Found? {
        var path: [String] = []
        var visited: Set<String> = []
        var current = name
        var found: Found?
        walk: while visited.insert(current).inserted {
            if let known = known[current] {
                found = known
                break
            }
            path.append(current)
            switch step(current) {
            case .found(let here):
                found = here
                known[current] = .some(here)
                path.removeLast()
                break walk
            case .up(let above): current = above
            case .end: break walk
            }
        }
        for name in path.reversed() {
            found = found.map { passing($0, name) }
            known[name] = .some(found)
        }
        return found
    }
}
