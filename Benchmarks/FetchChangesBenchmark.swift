// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellProcesses

/// Changes fetched per second: a device without a token reads a zone of 100,000
/// records to its end, page by page.
struct FetchChangesBenchmark {
    let server: BenchServer
    private let records = 100_000
    private let batch = 400

    func run() throws {
        try server.makeZone("history")
        let connection = try HTTPConnection(port: server.program.port)
        for start in stride(from: 0, to: records, by: batch) {
            _ = try connection.post(
                server.path("records/modify"), createNotes(start..<start + batch, zone: "history")
            )
        }
        for pageSize in [200, 1000] {
            var runs: [Double] = []
            for _ in 0..<repetitions {
                runs.append(try measure(connection: connection, pageSize: pageSize))
            }
            report("changes fetched, pages of \(pageSize)", runs, unit: "per s")
        }
    }

    private func measure(connection: HTTPConnection, pageSize: Int) throws -> Double {
        let start = Date()
        var token: String?
        var count = 0
        repeat {
            let answer = try connection.post(server.path("changes/zone"), request(token, pageSize))
            count += Self.count(of: #""recordChangeTag":"#, in: answer)
            guard let next = Self.text(of: "syncToken", in: answer), next != token else {
                throw ProcessFailure(
                    description: "the history does not go on: \(answer.prefix(200))")
            }
            token = next
            if answer.contains(#""moreComing":false"#) { break }
        } while true
        guard count == records else {
            throw ProcessFailure(description: "\(count) of \(records) records came")
        }
        return Double(count) / Date().timeIntervalSince(start)
    }

    private func request(_ token: String?, _ pageSize: Int) -> String {
        let token = token.map { #","syncToken":"\#($0)""# } ?? ""
        return
            #"{"zones":[{"zoneID":{"zoneName":"history"}\#(token),"resultsLimit":\#(pageSize)}]}"#
    }

    /// Counts a text in an answer, without building anything.
    private static func count(of text: String, in answer: String) -> Int {
        var answer = answer
        let pattern = Array(text.utf8)
        return answer.withUTF8 { bytes in
            guard bytes.count >= pattern.count else { return 0 }
            return (0...bytes.count - pattern.count).reduce(0) { count, start in
                // The second byte is rarer than the quotation mark before it.
                guard bytes[start + 1] == pattern[1] else { return count }
                let candidate = bytes[start..<start + pattern.count]
                return candidate.elementsEqual(pattern) ? count + 1 : count
            }
        }
    }

    /// Finds a text member near the start of the answer without parsing it all.
    private static func text(of member: String, in answer: String) -> String? {
        guard let key = answer.range(of: "\"\(member)\":\"") else { return nil }
        return answer[key.upperBound...].prefix { $0 != "\"" }.description
    }
}
