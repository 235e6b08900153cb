// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import TidebellServer

@Suite("Output that is read slowly or not at all", .hangs)
struct QueuedOutputTests {
    /// Both ends of a new pipe.
    private func makePipe() throws -> (reader: FileHandle, writer: FileHandle) {
        let pipe = Pipe()
        return (pipe.fileHandleForReading, pipe.fileHandleForWriting)
    }

    /// Reads until a line comes that is the last.
    private func lines(from reader: FileHandle, until isLast: (Substring) -> Bool) -> [Substring] {
        var text = ""
        while true {
            text += String(decoding: reader.availableData, as: UTF8.self)
            guard text.hasSuffix("\n") else { continue }
            let last = text.dropLast()
            let start = last.lastIndex(of: "\n").map { last.index(after: $0) } ?? last.startIndex
            if isLast(last[start...]) { return last.split(separator: "\n") }
        }
    }

    @Test("Nobody waits for a reader, and what there was no room for is counted in its place")
    func unread() throws {
        let (reader, writer) = try makePipe()
        let output = QueuedOutput(writer.fileDescriptor)
        let line = String(repeating: "x", count: 1023) + "\n"
        // Twice what waits, a pipe and what is being written have room for.
        let count = 4 * QueuedOutput.capacity / 1024
        for _ in 0..<count { output.write(line) }
        // For these there would be room again, but not in their place.
        for _ in 0..<100 { output.write("x\n") }
        let read = lines(from: reader) { $0.hasPrefix("(") }
        let missing = count + 100 - (read.count - 1)
        // What waits, and what Linux keeps in a pipe.
        #expect(read.count - 1 <= (QueuedOutput.capacity + 65_536) / 1024)
        #expect(read.dropLast().allSatisfy { $0.count == 1023 })
        #expect(read.last.map { $0 + "\n" } == QueuedOutput.gap(of: missing))
        output.write("after\n")
        #expect(lines(from: reader) { $0 == "after" } == ["after"])
        withExtendedLifetime(writer) {}
    }

    @Test("What is written in time is there when the process ends, in order")
    func flushed() throws {
        let (reader, writer) = try makePipe()
        let output = QueuedOutput(writer.fileDescriptor)
        for number in 0..<1000 { output.write("\(number)\n") }
        QueuedOutput.flush(output)
        try writer.close()
        let text = String(decoding: try #require(try reader.readToEnd()), as: UTF8.self)
        #expect(text == (0..<1000).map { "\($0)\n" }.joined())
    }
}
