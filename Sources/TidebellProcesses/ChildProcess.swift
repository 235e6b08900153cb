// SPDX-License-Identifier: Apache-2.0
package import Foundation
import Synchronization

/// A program started by this one, read line by line.
///
/// The child is killed when the value goes away, so that no test or demo leaves
/// a server behind.
package final class ChildProcess: Sendable {
    /// What keeps a child's line from growing without end.
    package static let lineLimit = 1 << 20

    /// The lines of the child's standard output, ending with it; the last one also where no line end follows it.
    package let lines: AsyncStream<String>
    /// The child's process identifier.
    package let processID: Int32

    private let input: Mutex<FileHandle>
    private let exit: Mutex<ExitState>

    private struct ExitState {
        var status: Int32?
        var waiting: [CheckedContinuation<Int32, Never>] = []
    }

    /// Starts `executable`; standard error goes to this process's unless
    /// `mergesErrors`, which mixes it into `lines`.
    package init(
        _ executable: URL, _ arguments: [String], environment: [String: String] = [:],
        mergesErrors: Bool = false
    ) throws {
        let output = Pipe()
        let input = Pipe()
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        self.input = Mutex(input.fileHandleForWriting)
        exit = Mutex(ExitState())
        let spawn = Spawn(
            executable: executable.path, arguments: arguments,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
            input: input.fileHandleForReading.fileDescriptor,
            output: output.fileHandleForWriting.fileDescriptor, mergesErrors: mergesErrors
        )
        processID = try spawn.start()
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
        Self.readLines(of: output.fileHandleForReading, into: continuation)
        Self.wait(for: processID) { [weak self] status in self?.ended(with: status) }
    }

    deinit {
        _ = kill(processID, SIGKILL)
    }

    /// Writes a line to the child's standard input.
    package func send(_ line: String) throws {
        try input.withLock { try $0.write(contentsOf: Data((line + "\n").utf8)) }
    }

    /// Sends a signal.
    package func signal(_ number: Int32) {
        guard exit.withLock({ $0.status == nil }) else { return }
        _ = kill(processID, number)
    }

    /// Returns the exit status once the child has ended; of a killed child, the
    /// signal's number.
    package func waitUntilExit() async -> Int32 {
        await withCheckedContinuation { continuation in
            let status = exit.withLock { exit in
                if exit.status == nil { exit.waiting.append(continuation) }
                return exit.status
            }
            if let status { continuation.resume(returning: status) }
        }
    }

    private func ended(with status: Int32) {
        let waiting = exit.withLock { exit in
            exit.status = status
            defer { exit.waiting = [] }
            return exit.waiting
        }
        for continuation in waiting { continuation.resume(returning: status) }
    }

    /// A thread of its own: Foundation offers no asynchronous lines on Linux.
    private static func readLines(
        of handle: FileHandle, into continuation: AsyncStream<String>.Continuation
    ) {
        Thread.detachNewThread {
            var buffer = Data()
            while true {
                // NB: `read(upToCount:)` would wait for as many bytes.
                let chunk = handle.availableData
                guard !chunk.isEmpty else { break }
                buffer.append(chunk)
                while let newline = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(String(decoding: buffer[..<newline], as: UTF8.self))
                    buffer.removeSubrange(...newline)
                }
                if buffer.count > lineLimit { buffer.removeAll() }
            }
            if !buffer.isEmpty { continuation.yield(String(decoding: buffer, as: UTF8.self)) }
            continuation.finish()
        }
    }

    /// A thread of its own, as waiting blocks.
    private static func wait(
        for processID: Int32, then body: @escaping @Sendable (Int32) -> Void
    ) {
        Thread.detachNewThread {
            var status: Int32 = 0
            while waitpid(processID, &status, 0) == -1, errno == EINTR {}
            let signal = status & 0x7f
            body(signal == 0 ? (status >> 8) & 0xff : signal)
        }
    }
}

extension ChildProcess {
    /// The folder of the running program, where SwiftPM puts its neighbours.
    package static var buildFolder: URL {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent()
    }
}
