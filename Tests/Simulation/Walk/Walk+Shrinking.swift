// SPDX-License-Identifier: Apache-2.0

extension Walk {
    /// Returns a shorter walk that still fails, found by leaving out steps: halves
    /// first, then less, at last single ones.
    ///
    /// - Parameter tries: The most walks to go through.
    package func shrunk(tries: Int = 300) async -> Walk {
        var best = self
        var left = tries
        var size = best.steps.count / 2
        while size > 0 {
            var start = 0
            while start < best.steps.count, left > 0 {
                left -= 1
                var shorter = best
                let end = min(start + size, shorter.steps.count)
                shorter.steps.removeSubrange(start..<end)
                if await shorter.fails() { best = shorter } else { start = end }
            }
            size /= 2
        }
        return best
    }

    private func fails() async -> Bool {
        do {
            _ = try await Simulation.run(self)
            return false
        } catch {
            return true
        }
    }
}
