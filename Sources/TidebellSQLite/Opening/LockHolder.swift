// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Finds out who holds a lock, for the sentence that refuses another.
enum LockHolder {
    /// Where Linux lists all locks.
    private static let list = "/proc/locks"

    /// The other process that holds a lock (`flock`) on the open file; nil where the
    /// system does not report it, as of a process in another container.
    static func process(of descriptor: Int32) -> Int32? {
        var status = stat()
        guard fstat(descriptor, &status) == 0,
            let data = try? FileHandle(forReadingFrom: URL(fileURLWithPath: list)).readToEnd()
        else { return nil }
        return process(
            in: String(decoding: data, as: UTF8.self),
            device: UInt64(truncatingIfNeeded: status.st_dev),
            file: UInt64(truncatingIfNeeded: status.st_ino)
        )
    }

    /// Reads the system's list, whose lines are as
    /// `7: FLOCK  ADVISORY  WRITE 4021 fd:01:131081 0 EOF`.
    static func process(in list: String, device: UInt64, file: UInt64) -> Int32? {
        let major = (device >> 8) & 0xfff | (device >> 32) & ~0xfff
        let minor = device & 0xff | (device >> 12) & ~0xff
        for line in list.split(separator: "\n") {
            let words = line.split(separator: " ").drop { $0.hasSuffix(":") || $0 == "->" }
            guard words.count >= 5, words.first == "FLOCK" else { continue }
            let fileID = words[words.startIndex + 4].split(separator: ":")
            guard fileID.count == 3, UInt64(fileID[0], radix: 16) == major,
                UInt64(fileID[1], radix: 16) == minor, UInt64(fileID[2]) == file,
                let process = Int32(words[words.startIndex + 3]), process > 0,
                process != getpid()
            else { continue }
            return process
        }
        return nil
    }
}
