// SPDX-License-Identifier: Apache-2.0
import Foundation

// On Linux the members of `stat` belong to the first C module that includes its header.
#if canImport(CDispatch)
    import CDispatch
#endif

/// What the system reports of a file or folder.
struct FileStatus {
    /// What stands under a path.
    enum Kind {
        case file, folder, symbolicLink, other
    }

    let kind: Kind
    let owner: uid_t
    /// In bytes.
    let size: Int64

    /// Reads what a path leads to, or the link itself; nil, with `errno` set, where it leads to
    /// nothing that this user may see.
    init?(_ path: String, followsLinks: Bool = true) {
        var status = stat()
        guard (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        self.init(status)
    }

    /// Reads what a descriptor is open on; nil, with `errno` set, where the system fails.
    init?(_ descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .symbolicLink
            default: .other
            }
        owner = status.st_uid
        size = Int64(status.st_size)
    }
}
