// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellProcesses

/// The first page of 200 among 1,000,000 records of a type: looked through, and by an index; and what
/// indexes cost a save.
struct IndexBenchmark {
    let server: BenchServer
    private let records = 1_000_000
    private let batch = 400

    private struct Question {
        var name: String
        var query: String
        /// Whether it is refused without an index: an order of more records than may be looked at.
        var needsIndex = false
    }

    private static func filter(_ comparator: String, _ field: String, _ rest: String) -> String {
        #""filterBy":[{"comparator":"\#(comparator)","fieldName":"\#(field)",\#(rest)}]"#
    }

    private static let here = #"{"latitude":10.0,"longitude":20.0}"#
    private static let questions = [
        Question(
            name: "equality", query: filter("EQUALS", "count", #""fieldValue":{"value":777777}"#)),
        Question(
            name: "range", query: filter("GREATER_THAN", "count", #""fieldValue":{"value":990000}"#)
        ),
        Question(
            name: "prefix",
            query: filter("BEGINS_WITH", "title", #""fieldValue":{"value":"note 99"}"#)
        ),
        Question(
            name: "list", query: filter("LIST_CONTAINS", "tags", #""fieldValue":{"value":"t4999"}"#)
        ),
        Question(
            name: "token",
            query: filter("CONTAINS_ALL_TOKENS", "title", #""fieldValue":{"value":"Note 765432"}"#)),
        Question(
            name: "distance",
            query: filter("NEAR", "place", #""distance":3000,"fieldValue":{"value":\#(here)}"#)),
        Question(
            name: "sorted by a number",
            query: #""sortBy":[{"fieldName":"count","ascending":false}]"#, needsIndex: true),
        Question(
            name: "sorted by distance",
            query: #""sortBy":[{"fieldName":"place","relativeLocation":\#(here)}]"#,
            needsIndex: true),
    ]

    func run() async throws {
        try server.makeZone("library")
        let connection = try HTTPConnection(port: server.program.port)
        let path = server.path("records/modify")
        var start = Date()
        for first in stride(from: 0, to: records, by: batch) {
            _ = try connection.post(path, notes(first..<first + batch))
        }
        report(
            "insert without index", [Double(records) / -start.timeIntervalSinceNow], unit: "per s")
        for question in Self.questions {
            try await measure(question, connection)
        }
        start = Date()
        let more = 20_000
        for first in stride(from: records, to: records + more, by: batch) {
            _ = try connection.post(path, notes(first..<first + batch))
        }
        report(
            "insert with the indexes", [Double(more) / -start.timeIntervalSinceNow], unit: "per s")
    }

    private func measure(_ question: Question, _ connection: HTTPConnection) async throws {
        let body =
            #"{"zoneID":{"zoneName":"library"},"desiredKeys":[],"resultsLimit":200,"#
            + #""query":{"recordType":"Note",\#(question.query)}"#
        if question.needsIndex {
            // Refused, and wished for.
            let other = try HTTPConnection(port: server.program.port)
            _ = try? other.post(server.path("records/query"), body + "}")
        } else {
            let start = Date()
            let count = try found(body, connection)
            report(
                "\(question.name), \(count) found, looked through",
                [-start.timeIntervalSinceNow * 1000], unit: "ms")
        }
        let start = Date()
        while try await !isIndexed(body + "}") {
            // Long enough for a step to be taken.
            try await Task.sleep(for: .milliseconds(500))
        }
        report(
            "\(question.name), until its index is built", [-start.timeIntervalSinceNow], unit: "s")
        var runs: [Double] = []
        var count = 0
        for _ in 0..<repetitions {
            let start = Date()
            count = try found(body, connection)
            runs.append(-start.timeIntervalSinceNow * 1000)
        }
        report("\(question.name), \(count) found, by index", runs, unit: "ms")
    }

    /// How many records are on the first page, or on those after it where it ends before its time.
    private func found(_ body: String, _ connection: HTTPConnection) throws -> Int {
        var (count, marker) = (0, "")
        repeat {
            let answer = try connection.post(server.path("records/query"), body + marker + "}")
            count += answer.components(separatedBy: #""recordChangeTag""#).count - 1
            let next = answer.firstMatch(of: /"continuationMarker":"([^"]+)"/)
            marker = next.map { #","continuationMarker":"\#($0.1)""# } ?? ""
        } while count < 200 && !marker.isEmpty
        return count
    }

    private func isIndexed(_ body: String) async throws -> Bool {
        let output = try await server.program.run([
            "query", "explain", "--container", BenchServer.container, "--user", "bench", "--json",
            body,
        ])
        return output.joined().contains(#""source":"index""#)
    }

    private func notes(_ range: Range<Int>) -> String {
        let operations = range.map { number in
            let fields =
                String(noteFields(number).dropLast())
                + #","tags":{"value":["t\#(number % 5000)","all"],"type":"STRING_LIST"},"#
                + #""place":{"value":{"latitude":\#(Double(number % 1000) / 50),"#
                + #""longitude":\#(Double(number / 1000) / 25)},"type":"LOCATION"}}"#
            return #"{"operationType":"create","record":{"recordType":"Note","#
                + #""recordName":"\#(UUID())","fields":\#(fields)}}"#
        }
        return
            #"{"zoneID":{"zoneName":"library"},"operations":[\#(operations.joined(separator: ","))]}"#
    }
}
