// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An output of a server, written by a thread of its own: whoever reads it slowly, or not at
/// all, holds up neither requests nor the end.
///
/// `@unchecked Sendable`: all state is only touched under the lock of the condition.
package final class QueuedOutput: TextOutputStream, @unchecked Sendable {
    /// The standard output of the process.
    package static let standardOutput = QueuedOutput(STDOUT_FILENO)
    /// The standard error of the process, where the log goes.
    package static let standardError = QueuedOutput(STDERR_FILENO)

    /// Bytes that wait or are being written. A text that comes beyond is dropped and counted,
    /// and so is what follows it, until what waits is being written.
    package static let capacity = 1 << 20
    /// Seconds that the end of the process waits for what is not written yet.
    package static let flushTime = 1.0

    private let descriptor: Int32
    private let condition = NSCondition()
    private var waiting: [UInt8] = []
    private var dropped = 0
    private var writing = 0
    private var hasThread = false

    /// Creates an output to an open file.
    package init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Takes a text, which is written as soon as somebody reads.
    package func write(_ text: String) {
        condition.withLock {
            let room = Self.capacity - waiting.count - writing
            guard dropped == 0, text.utf8.count <= room else {
                dropped += 1
                return
            }
            waiting += text.utf8
            if !hasThread {
                hasThread = true
                Thread { self.run() }.start()
            }
            condition.signal()
        }
    }

    /// Waits until everything is written to all outputs, but no longer than ``flushTime``.
    package static func flush(_ outputs: QueuedOutput...) {
        let end = Date(timeIntervalSinceNow: flushTime)
        for output in outputs {
            output.condition.withLock {
                while output.hasWork || output.writing > 0, output.condition.wait(until: end) {}
            }
        }
    }

    private var hasWork: Bool { !waiting.isEmpty || dropped > 0 }

    private func run() {
        while true {
            let bytes = condition.withLock {
                writing = 0
                // Who flushes waits for it.
                condition.broadcast()
                while !hasWork { condition.wait() }
                // What was dropped came after what waits.
                let gap = dropped == 0 ? "" : Self.gap(of: dropped)
                writing = waiting.count
                defer { (waiting, dropped) = ([], 0) }
                return waiting + gap.utf8
            }
            put(bytes)
        }
    }

    /// The line that stands for texts that nobody will see.
    private static func gap(of dropped: Int) -> String {
        "(\(dropped) lines are missing here: they were not read in time)\n"
    }

    private func put(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Foundation.write(
                    descriptor, bytes.baseAddress?.advanced(by: rest.startIndex), rest.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    // Another program that has the file open set it so.
                    var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&wait, 1, -1)
                } else if errno != EINTR {
                    // Nobody can read any more, or the disk is full: a server goes on.
                    return
                }
            }
        }
    }
}
