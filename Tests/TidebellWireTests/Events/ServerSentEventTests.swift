// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellWire

@Suite struct ServerSentEventTests {
    /// Streams and the events in them.
    static let streams: [(String, [ServerSentEvent])] = [
        ("", []),
        ("\n\n\n", []),
        (": heart-beat\n\n: another\n\n", []),
        ("event: ready\nid: 7\n\n", [ServerSentEvent(name: "ready", id: "7")]),
        ("id: 8\ndata: {\"a\":1}\n\n", [ServerSentEvent(id: "8", data: "{\"a\":1}")]),
        ("data: a\r\ndata:b\r\n\r\n", [ServerSentEvent(data: "a\nb")]),
        ("data: a\rdata:  b\r\r", [ServerSentEvent(data: "a\n b")]),
        ("data\ndata\n\n", [ServerSentEvent(data: "\n")]),
        ("data:\n\n", [ServerSentEvent(data: "")]),
        ("id: a\u{0}b\ndata: x\n\n", [ServerSentEvent(data: "x")]),
        (
            "\u{FEFF}data: x\n\ndata: \u{FEFF}\n\n",
            [
                ServerSentEvent(data: "x"), ServerSentEvent(data: "\u{FEFF}"),
            ]
        ),
        (
            "id: 1\ndata: é💌\n\nretry: 5\nodd: x\n\nid: 2\ndata: a:b\n\n",
            [
                ServerSentEvent(id: "1", data: "é💌"), ServerSentEvent(id: "2", data: "a:b"),
            ]
        ),
        ("event: x\nevent:\ndata: y\n\n", [ServerSentEvent(data: "y")]),
        // Accents that join the colon or the space before them to one character.
        (
            "data:\u{301}a\ndata: \u{301}b\n\n",
            [ServerSentEvent(data: "\u{301}a\n\u{301}b")]
        ),
        ("data: never ended\n", []),
    ]

    @Test("A stream gives the same events wherever its chunks are cut", arguments: streams.indices)
    func chunksAtEveryByte(row: Int) throws {
        let (stream, events) = Self.streams[row]
        let bytes = Array(stream.utf8)
        for size in [1, 2, 3, 5, max(bytes.count, 1)] {
            var parser = ServerSentEventParser()
            var found: [ServerSentEvent] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                let chunk = bytes[start..<min(start + size, bytes.count)]
                found += try parser.consume(Array(chunk))
            }
            #expect(found == events, "chunks of \(size)")
        }
        for cut in 0...bytes.count {
            var parser = ServerSentEventParser()
            let found =
                try parser.consume(Array(bytes[..<cut]))
                + parser.consume(Array(bytes[cut...]))
            #expect(found == events, "cut at \(cut)")
        }
    }

    @Test("What is written is read again; a heartbeat is nothing")
    func roundTrip() throws {
        var parser = ServerSentEventParser()
        let stream =
            ServerSentEvent.encoded("ready", id: "7", data: utf8("{}"))
            + ServerSentEvent.heartbeat
            + ServerSentEvent.encoded(id: "8", data: utf8(#"{"aps":{}}"#))
        #expect(
            String(decoding: stream, as: UTF8.self)
                == "event: ready\nid: 7\ndata: {}\n\n: \n\nid: 8\ndata: {\"aps\":{}}\n\n"
        )
        #expect(
            try parser.consume(stream) == [
                ServerSentEvent(name: "ready", id: "7", data: "{}"),
                ServerSentEvent(id: "8", data: #"{"aps":{}}"#),
            ])
    }

    @Test("A line over the bound ends the stream")
    func aLongLine() throws {
        var parser = ServerSentEventParser()
        let longest = [UInt8](repeating: 0x61, count: ServerSentEventParser.maximumLineLength)
        #expect(try parser.consume(longest).isEmpty)
        #expect(throws: ServerSentEventError.lineTooLong) { try parser.consume([0x61]) }
    }

    @Test("Data over the bound ends the stream, over however many lines")
    func longData() throws {
        var parser = ServerSentEventParser()
        let line = Array("data: \(String(repeating: "a", count: 60_000))\n".utf8)
        for _ in 0..<4 { #expect(try parser.consume(line).isEmpty) }
        #expect(throws: ServerSentEventError.dataTooLong) { try parser.consume(line) }
    }

    @Test("Bytes that are no UTF-8 end the stream")
    func noUTF8() {
        var parser = ServerSentEventParser()
        #expect(throws: ServerSentEventError.notUTF8) {
            try parser.consume(Array("data: ".utf8) + [0xC3, 0x28, 0x0A])
        }
    }

    @Test("Random bytes never crash the parser")
    func randomBytes() {
        let seed = UInt64.random(in: .min ... .max)
        print("ServerSentEventTests.randomBytes seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("data: id:event\n\r\u{0}: {}é".utf8) + [0xFF]
        for _ in 0..<2000 {
            var parser = ServerSentEventParser()
            let bytes = (0..<40).map { _ in alphabet[Int(random.next() % UInt64(alphabet.count))] }
            // Refusing is fine; trapping is not.
            _ = try? parser.consume(bytes)
        }
    }
}
