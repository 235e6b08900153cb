// SPDX-License-Identifier: Apache-2.0

/// Bounds the files that are on their way. Uploads have slots of their own, so that
/// whoever fetches slowly does not keep others from saving.
package struct Transfers: Sendable {
    /// Files that come.
    package let uploads: HeldRequests
    /// Files that go.
    package let downloads: HeldRequests

    /// Creates the bounds of so many files, half of them each way; a caller has a quarter
    /// of each unless the limits differ, and all callers without a user half.
    init(capacity: Int, shares: Shares) {
        let half = max(1, capacity / 2)
        let share = shares.limits.transfersPerCaller ?? max(1, half / 4)
        func bound(_ kind: HeldRequests.Kind) -> HeldRequests {
            HeldRequests(
                capacity: half, share: share, strangersShare: max(1, half / 2), of: kind
            )
        }
        uploads = bound(.uploads)
        downloads = bound(.downloads)
    }

    /// How many are on their way.
    package var current: Int { uploads.current + downloads.current }
}
