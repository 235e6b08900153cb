// SPDX-License-Identifier: Apache-2.0

/// Waits until a condition holds that another task brings about; false when it did not
/// within ten seconds.
func eventually(
    isolation: isolated (any Actor)? = #isolation, _ condition: () throws -> Bool
) async rethrows -> Bool {
    let deadline = ContinuousClock.now.advanced(by: .seconds(10))
    while ContinuousClock.now < deadline {
        if try condition() { return true }
        await Task.yield()
    }
    return false
}
