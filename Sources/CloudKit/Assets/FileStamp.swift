// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What shows whether a file is still the one it was: which file, how long, when
/// written.
struct FileStamp: Sendable, Equatable {
    var device: UInt64
    var inode: UInt64
    var size: Int64
    var seconds: Int
    var nanoseconds: Int
    /// Whether it is a file, not a folder or something else.
    var isRegular: Bool

    /// Looks at an open file; nil when that is not possible.
    init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Looks at a file; nil when there is none.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Takes the stamp of a file that was kept.
    init(device: UInt64, inode: UInt64, size: Int64, seconds: Int, nanoseconds: Int) {
        self.device = device
        self.inode = inode
        self.size = size
        self.seconds = seconds
        self.nanoseconds = nanoseconds
        isRegular = true
    }

    private init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        seconds = Int(status.modification.tv_sec)
        nanoseconds = Int(status.modification.tv_nsec)
        isRegular = status.st_mode & S_IFMT == S_IFREG
    }
}
