// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellProcesses

/// How long one page of a query takes among 100,000 records of its type.
struct QueryBenchmark {
    let server: BenchServer
    private let records = 100_000
    private let batch = 400

    /// A query, and how many records its first page has.
    private struct Question {
        var name: String
        var query: String
        var count: Int
    }

    private static let questions = [
        Question(
            name: "one match by an equality",
            query: """
                "filterBy":[{"comparator":"EQUALS","fieldName":"count","fieldValue":{"value":77777}}]
                """,
            count: 1
        ),
        Question(
            name: "page of 200, half of all match",
            query: """
                "filterBy":[{"comparator":"LESS_THAN","fieldName":"count",\
                "fieldValue":{"value":50000}}]
                """,
            count: 200
        ),
        Question(
            name: "page of 200 of all, sorted by a number",
            query: #""sortBy":[{"fieldName":"count","ascending":false}]"#, count: 200
        ),
        Question(
            name: "page of 200 of all, sorted by a text",
            query: #""sortBy":[{"fieldName":"title"}]"#, count: 200
        ),
    ]

    func run() throws {
        try server.makeZone("library")
        let connection = try HTTPConnection(port: server.program.port)
        for start in stride(from: 0, to: records, by: batch) {
            _ = try connection.post(
                server.path("records/modify"), createNotes(start..<start + batch, zone: "library")
            )
        }
        for question in Self.questions {
            let body =
                #"{"zoneID":{"zoneName":"library"},"desiredKeys":[],"#
                + #""query":{"recordType":"Note",\#(question.query)}}"#
            var runs: [Double] = []
            for _ in 0..<repetitions {
                let start = Date()
                let answer = try connection.post(server.path("records/query"), body)
                runs.append(Date().timeIntervalSince(start) * 1000)
                let count = answer.components(separatedBy: #""recordChangeTag""#).count - 1
                guard count == question.count else {
                    throw ProcessFailure(
                        description: "\(count) records came: \(answer.prefix(200))")
                }
            }
            report("query, \(question.name)", runs, unit: "ms")
        }
    }
}
