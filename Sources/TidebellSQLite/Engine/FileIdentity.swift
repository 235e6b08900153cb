// SPDX-License-Identifier: Apache-2.0
import CTidebellFiles

/// Which file stands at a path, whatever is in it: another one after it was deleted or
/// replaced.
struct FileIdentity: Hashable {
    private let device: UInt64
    private let number: UInt64

    /// Looks at a path; nil if there is no file, or none that can be seen.
    init?(path: String) {
        var (device, number) = (UInt64(0), UInt64(0))
        guard tidebell_file_identity(path, &device, &number) else { return nil }
        self.device = device
        self.number = number
    }
}
