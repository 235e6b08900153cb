// SPDX-License-Identifier: Apache-2.0
import CTidebellFiles

/// Which folder stands at a path, and when a name in it was last made, removed or replaced: while
/// both are the same, so are the files in it.
struct FolderState: Hashable {
    /// Seconds without a change after which another is sure to bear another time, on any file system.
    static let settledAfter = 2

    private let device: UInt64
    private let number: UInt64
    private let seconds: Int64
    private let nanoseconds: Int64
    private let modifiedSeconds: Int64
    private let modifiedNanoseconds: Int64

    /// Looks at a path; nil if there is no folder, or one that changed less than `settledAfter`
    /// seconds ago.
    init?(path: String, settledAfter: Int = Self.settledAfter) {
        var folder = tidebell_folder()
        guard tidebell_settled_folder(path, Int64(settledAfter), &folder) else { return nil }
        device = folder.device
        number = folder.number
        seconds = folder.changed_seconds
        nanoseconds = folder.changed_nanoseconds
        modifiedSeconds = folder.modified_seconds
        modifiedNanoseconds = folder.modified_nanoseconds
    }
}
