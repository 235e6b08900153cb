// SPDX-License-Identifier: Apache-2.0

extension Walk {
    /// A walk that fails, and how.
    package struct Failure: Sendable, CustomStringConvertible {
        package var walk: Walk
        package var error: any Error

        /// The steps, one in each line, and what is wrong then.
        package var description: String { "\(walk)\n  \(error)" }

        fileprivate var check: String { (error as? Violation)?.check ?? "" }
    }

    /// Returns a shorter walk that breaks the same promise, found by leaving out steps: halves
    /// first, then less, at last single ones.
    ///
    /// - Parameters:
    ///   - error: How this one fails.
    ///   - tries: The most walks to go through.
    package func shrunk(failing error: any Error, tries: Int = 300) async -> Failure {
        var best = Failure(walk: self, error: error)
        var left = tries
        var size = steps.count / 2
        while size > 0 {
            var start = 0
            while start < best.walk.steps.count, left > 0 {
                left -= 1
                var shorter = best.walk
                let end = min(start + size, shorter.steps.count)
                shorter.steps.removeSubrange(start..<end)
                if let failure = await shorter.failure(), failure.check == best.check {
                    best = failure
                } else {
                    start = end
                }
            }
            size /= 2
        }
        return best
    }

    private func failure() async -> Failure? {
        do {
            _ = try await Simulation.run(self)
            return nil
        } catch {
            return Failure(walk: self, error: error)
        }
    }
}
