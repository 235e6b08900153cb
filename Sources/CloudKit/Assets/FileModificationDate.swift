// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Sets the date of an open file, by which its age is measured later; best effort, a file
/// that cannot be changed keeps the machine's date.
func setModificationDate(_ date: Date, of descriptor: Int32) {
    let milliseconds = Int(date.timeIntervalSince1970 * 1000)
    let time = timespec(
        tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000
    )
    _ = [time, time].withUnsafeBufferPointer { futimens(descriptor, $0.baseAddress) }
}
