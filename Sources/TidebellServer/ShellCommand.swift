// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellHTTP

/// A command of the shell whose output is read, for a limited time.
///
/// By `popen`: Foundation's `Process` reads beyond a buffer on Linux when it starts a program,
/// as the address sanitizer shows.
struct ShellCommand {
    /// Why there is no output.
    enum Failure: Error {
        case notRun(String)
        case unknownEnd(String)
        case tooLong
        case tooMuch
        case signal(Int32)
        case status(Int32)
    }

    /// Time between two looks at a command that closed its output and has not ended.
    private static let pause = Duration.milliseconds(10)
    /// The longest number of a process that is read.
    private static let numberLength = 32

    private let text: String

    /// Creates a command; nothing runs yet.
    init(_ text: String) {
        self.text = text
    }

    /// Runs the command and returns what it prints, which must be fewer bytes than `count`. Its
    /// standard input is empty.
    ///
    /// What does not end in time is killed; processes that it started itself are left alone.
    func output(below count: Int, within limit: Duration) throws -> [UInt8] {
        // The first line is the shell's number; `exec` keeps it.
        guard let file = popen("exec < /dev/null\necho $$\n" + text, "re") else {
            throw Failure.notRun(DiskError("start").reason)
        }
        let output = fileno(file)
        let process = Self.number(from: output)
        let deadline = ContinuousClock.now + limit
        let bytes = Self.bytes(from: output, upTo: count, until: deadline)
        let isTooMuch = bytes?.count == count
        let isInTime = bytes != nil && !isTooMuch && Self.hasEnded(process, until: deadline)
        if !isInTime, process > 0 { kill(process, SIGKILL) }
        let status = pclose(file)
        guard !isTooMuch else { throw Failure.tooMuch }
        guard isInTime, let bytes else { throw Failure.tooLong }
        guard status != -1 else { throw Failure.unknownEnd(DiskError("wait").reason) }
        // The shell's own end by a signal has no exit status.
        guard status & 0x7f == 0 else { throw Failure.signal(status & 0x7f) }
        guard status == 0 else { throw Failure.status(status >> 8 & 0xff) }
        return bytes
    }

    /// Reads the first line; 0 where there is none.
    private static func number(from descriptor: Int32) -> pid_t {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count < numberLength, read(descriptor, &byte, 1) == 1,
            byte != UInt8(ascii: "\n")
        {
            line.append(byte)
        }
        return pid_t(String(decoding: line, as: UTF8.self)) ?? 0
    }

    /// Reads to the end, but no more than `count` bytes; nil where the time is over before.
    private static func bytes(
        from descriptor: Int32, upTo count: Int, until deadline: ContinuousClock.Instant
    ) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: count)
        while bytes.count < count {
            let left = ContinuousClock.now.duration(to: deadline)
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&waiting, 1, Int32(max(0, left / .milliseconds(1))))
            guard ready != 0 else { return nil }
            guard ready > 0 else { continue }
            let length = read(descriptor, &buffer, count - bytes.count)
            guard length > 0 else { break }
            bytes += buffer[..<length]
        }
        return bytes
    }

    /// Waits for the end of a process, which stays for `pclose` to ask about.
    private static func hasEnded(
        _ process: pid_t, until deadline: ContinuousClock.Instant
    ) -> Bool {
        guard process > 0 else { return true }
        while true {
            var information = siginfo_t()
            let outcome = waitid(
                P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT)
            // Where `waitid` cannot ask for the end, `pclose` reports it.
            guard outcome == 0, information.si_signo == 0 else { return true }
            guard ContinuousClock.now < deadline else { return false }
            usleep(useconds_t(pause / .microseconds(1)))
        }
    }
}
