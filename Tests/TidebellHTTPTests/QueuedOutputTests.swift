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

    /// Reads until the lines are all that are to come.
    private func lines(
        from reader: FileHandle, until areAll: ([Substring]) -> Bool
    ) -> [Substring] {
        var text = ""
        while true {
            text += String(decoding: reader.availableData, as: UTF8.self)
            guard text.hasSuffix("\n") else { continue }
            let lines = text.split(separator: "\n")
            if areAll(lines) { return lines }
        }
    }

    @Test("Nobody waits for a reader, and what there was no room for is counted in its place")
    func unread() throws {
        let (reader, writer) = try makePipe()
        let output = QueuedOutput(writer.fileDescriptor)
        let line = String(repeating: "x", count: 1023) + "\n"
        // More than twice what waits, a pipe and what is being written have room for.
        let count = 4 * QueuedOutput.capacity / 1024
        for _ in 0..<count { output.write(line) }
        // For these there would be room again, but not in their place.
        for _ in 0..<100 { output.write("x\n") }
        // Where the thread begins late there are two: it takes what waits, and all has begun anew.
        func missing(_ lines: [Substring]) -> Int {
            lines.compactMap { Int($0.dropFirst().prefix { $0.isNumber }) }.reduce(0, +)
        }
        let read = lines(from: reader) { lines in
            let gaps = lines.count { $0.hasPrefix("(") }
            return gaps > 0 && lines.count - gaps + missing(lines) >= count + 100
        }
        let kept = read.filter { !$0.hasPrefix("(") }
        #expect(kept.count + missing(read) == count + 100)
        #expect(kept.allSatisfy { $0.count == 1023 })
        // What waits, and what Linux keeps in a pipe.
        #expect(kept.count <= (QueuedOutput.capacity + 65_536) / 1024)
        output.write("after\n")
        #expect(lines(from: reader) { $0.last == "after" } == ["after"])
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
