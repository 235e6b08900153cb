// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Which file stands at a path, whatever is in it: another one after it was deleted or
/// replaced.
struct FileIdentity: Hashable {
    private let device: UInt64
    private let number: UInt64

    /// Looks at a path; nil if there is no file, or none that can be seen.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
