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

    /// Time between two looks at a command that has not ended.
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
        guard process > 0 else {
            pclose(file)
            throw Failure.notRun("the shell did not start")
        }
        let deadline = ContinuousClock.now + limit
        let bytes = Self.bytes(from: output, of: process, upTo: count, until: deadline)
        let isTooMuch = bytes?.count == count
        let isInTime = bytes != nil && !isTooMuch && Self.waitForEnd(of: process, until: deadline)
        if !isInTime { kill(process, SIGKILL) }
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
        while line.count < numberLength {
            let length = read(descriptor, &byte, 1)
            if length < 0, errno == EINTR { continue }
            guard length == 1, byte != UInt8(ascii: "\n") else { break }
            line.append(byte)
        }
        return pid_t(String(decoding: line, as: UTF8.self)) ?? 0
    }

    /// Reads to the end, but no more than `count` bytes; nil where the time is over before.
    ///
    /// Where the process has ended, what it printed is all: others that it left behind may keep
    /// its output open.
    private static func bytes(
        from descriptor: Int32, of process: pid_t, upTo count: Int,
        until deadline: ContinuousClock.Instant
    ) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: count)
        while bytes.count < count {
            guard ContinuousClock.now < deadline else { return nil }
            // Asked before what there is: nothing comes after its end.
            let isOver = hasEnded(process)
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&waiting, 1, isOver ? 0 : Int32(pause / .milliseconds(1)))
            if ready == 0, isOver { break }
            guard ready > 0 else { continue }
            let length = read(descriptor, &buffer, count - bytes.count)
            if length < 0, errno == EINTR { continue }
            guard length > 0 else { break }
            bytes += buffer[..<length]
        }
        return bytes
    }

    /// Waits for the end of a process; returns whether it came in time.
    private static func waitForEnd(
        of process: pid_t, until deadline: ContinuousClock.Instant
    ) -> Bool {
        while !hasEnded(process) {
            guard ContinuousClock.now < deadline else { return false }
            usleep(useconds_t(pause / .microseconds(1)))
        }
        return true
    }

    /// Whether a process has ended, which stays for `pclose` to ask about.
    private static func hasEnded(_ process: pid_t) -> Bool {
        var information = siginfo_t()
        let outcome = waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT)
        // Where `waitid` cannot ask for the end, `pclose` reports it.
        return outcome != 0 || information.si_signo != 0
    }
}
