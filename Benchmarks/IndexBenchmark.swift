// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellProcesses

/// A page of 200 among 1,000 to 1,000,000 records of a type: looked through, and by an index; how large
/// records and indexes are; and what indexes cost a save.
struct IndexBenchmark {
    private static let sizes = [1000, 10_000, 100_000, 1_000_000]
    private static let batch = 400
    /// In seconds.
    private static let longestBuild = 900.0

    let server: BenchServer

    private struct Question {
        var name: String
        var query: String
        /// Whether it is refused without an index: an order of more records than may be looked at.
        var needsIndex = false
    }

    private static func filter(_ comparator: String, _ field: String, _ rest: String) -> String {
        #""filterBy":[{"comparator":"\#(comparator)","fieldName":"\#(field)",\#(rest)}]"#
    }

    private static let here = #"{"latitude":10.0,"longitude":0.0}"#

    private static func questions(among records: Int) -> [Question] {
        [
            Question(
                name: "equality",
                query: filter("EQUALS", "count", #""fieldValue":{"value":\#(records * 7 / 9)}"#)),
            Question(
                name: "range",
                query: filter(
                    "GREATER_THAN", "count", #""fieldValue":{"value":\#(records - records / 100)}"#)
            ),
            Question(
                name: "prefix",
                query: filter("BEGINS_WITH", "title", #""fieldValue":{"value":"note 99"}"#)
            ),
            Question(
                name: "list",
                query: filter("LIST_CONTAINS", "tags", #""fieldValue":{"value":"t7"}"#)
            ),
            Question(
                name: "token",
                query: filter(
                    "CONTAINS_ALL_TOKENS", "title",
                    #""fieldValue":{"value":"Note \#(records * 7 / 9)"}"#)),
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
    }

    static func run() async throws {
        for records in sizes {
            let server = try await BenchServer.start()
            defer { server.stop() }
            try await IndexBenchmark(server: server).measurePages(among: records)
        }
        let server = try await BenchServer.start()
        defer { server.stop() }
        try await IndexBenchmark(server: server).measureSaves()
    }

    private func measurePages(among records: Int) async throws {
        let zone = "library"
        try server.makeZone(zone)
        let connection = try HTTPConnection(port: server.program.port)
        let start = Date()
        try insert(0..<records, zone, connection)
        report(
            "\(records) records: insert, no index",
            [Double(records) / -start.timeIntervalSinceNow], unit: "per s")
        let size = try storeSize()
        report("\(records) records: one in the store", [size / Double(records)], unit: "bytes")
        for question in Self.questions(among: records) {
            try await measure(question, among: records, zone, connection)
        }
        let indexes = try storeSize() - size
        report(
            "\(records) records: one in these indexes", [indexes / Double(records)], unit: "bytes")
    }

    /// Batches and single saves in zones with no index, one and five, which take turns.
    private func measureSaves() async throws {
        let connection = try HTTPConnection(port: server.program.port)
        let zones = [0, 1, 5].map { (name: "indexes-\($0)", indexes: $0) }
        for zone in zones {
            try server.makeZone(zone.name)
            try insert(0..<20_000, zone.name, connection)
            // A range is answered by the index of the equality.
            let questions = Self.questions(among: 20_000).filter { $0.name != "range" }
            for question in questions.prefix(zone.indexes) {
                let body = body(question, zone.name)
                _ = try page(body, connection)
                try await waitForIndex(body)
            }
        }
        var batches: [String: [Double]] = [:]
        var saves: [String: [Double]] = [:]
        for round in 0..<repetitions {
            for offset in zones.indices {
                let zone = zones[(round + offset) % zones.count].name
                let first = 20_000 + round * 10_000
                var start = Date()
                try insert(first..<first + 8000, zone, connection)
                batches[zone, default: []].append(8000 / -start.timeIntervalSinceNow)
                start = Date()
                for number in first + 8000..<first + 8500 {
                    _ = try connection.post(
                        server.path("records/modify"), notes(number..<number + 1, zone))
                }
                saves[zone, default: []].append(-start.timeIntervalSinceNow * 1000 / 500)
            }
        }
        for zone in zones {
            let indexes = zone.indexes == 1 ? "1 index" : "\(zone.indexes) indexes"
            report("insert, batches of 400, \(indexes)", batches[zone.name]!, unit: "per s")
            report("one save, \(indexes)", saves[zone.name]!, unit: "ms")
        }
    }

    private func measure(
        _ question: Question, among records: Int, _ zone: String, _ connection: HTTPConnection
    ) async throws {
        let name = "\(records) records: \(question.name)"
        let body = body(question, zone)
        let isWorthAnIndex = records > Self.sizes[0]
        if question.needsIndex && isWorthAnIndex {
            // Refused, and wished for.
            let other = try HTTPConnection(port: server.program.port)
            _ = try? page(body, other)
        } else {
            let start = Date()
            let found = try page(body, connection)
            report(
                "\(name), \(found.count) found, the first time",
                [-start.timeIntervalSinceNow * 1000], unit: "ms")
        }
        guard isWorthAnIndex else { return }
        let start = Date()
        try await waitForIndex(body)
        report("\(name), until its index is built", [-start.timeIntervalSinceNow], unit: "s")
        var (firsts, nexts): ([Double], [Double]) = ([], [])
        var found = Page(count: 0, marker: "")
        for _ in 0..<repetitions {
            var start = Date()
            found = try page(body, connection)
            firsts.append(-start.timeIntervalSinceNow * 1000)
            if found.marker.isEmpty { continue }
            start = Date()
            _ = try page(body, after: found.marker, connection)
            nexts.append(-start.timeIntervalSinceNow * 1000)
        }
        report("\(name), \(found.count) found, by index", firsts, unit: "ms")
        if !nexts.isEmpty { report("\(name), the next page", nexts, unit: "ms") }
    }

    private struct Page {
        var count: Int
        /// Where the next one begins, or nothing if this is the last.
        var marker: String
    }

    /// One page, or as many as it takes to find 200 records where pages end before they are full.
    private func page(
        _ body: String, after marker: String = "", _ connection: HTTPConnection
    ) throws -> Page {
        var page = Page(count: 0, marker: marker)
        repeat {
            let marker = page.marker.isEmpty ? "" : #","continuationMarker":"\#(page.marker)""#
            let answer = try connection.post(server.path("records/query"), body + marker + "}")
            page.count += answer.components(separatedBy: #""recordChangeTag""#).count - 1
            page.marker =
                answer.firstMatch(of: /"continuationMarker":"([^"]+)"/).map { "\($0.1)" } ?? ""
        } while page.count < 200 && !page.marker.isEmpty
        return page
    }

    /// The request for the records of a question, without its end.
    private func body(_ question: Question, _ zone: String) -> String {
        #"{"zoneID":{"zoneName":"\#(zone)"},"desiredKeys":[],"resultsLimit":200,"#
            + #""query":{"recordType":"Note",\#(question.query)}"#
    }

    private func insert(_ numbers: Range<Int>, _ zone: String, _ connection: HTTPConnection) throws
    {
        for first in stride(from: numbers.lowerBound, to: numbers.upperBound, by: Self.batch) {
            let last = min(first + Self.batch, numbers.upperBound)
            _ = try connection.post(server.path("records/modify"), notes(first..<last, zone))
        }
    }

    /// The size of the store's file, in bytes; what its log still holds is left out.
    private func storeSize() throws -> Double {
        let files = FileManager.default
        let store = try files.contentsOfDirectory(atPath: server.program.dataFolder.path)
            .first { $0.hasSuffix(".sqlite") }
        guard let store else { throw BenchmarkError("the data folder holds no store") }
        let path = server.program.dataFolder.appendingPathComponent(store).path
        return (try files.attributesOfItem(atPath: path)[.size] as? NSNumber)?.doubleValue ?? 0
    }

    private func waitForIndex(_ body: String) async throws {
        let start = Date()
        while try await !isIndexed(body + "}") {
            guard -start.timeIntervalSinceNow < Self.longestBuild else {
                throw BenchmarkError("no index was built for \(body)}")
            }
            // Long enough for a step to be taken.
            try await Task.sleep(for: .milliseconds(500))
        }
    }

    private func isIndexed(_ body: String) async throws -> Bool {
        let output = try await server.program.run([
            "query", "explain", "--container", BenchServer.container, "--user", "bench", "--json",
            body,
        ])
        return output.joined().contains(#""source":"index""#)
    }

    private func notes(_ range: Range<Int>, _ zone: String) -> String {
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
            #"{"zoneID":{"zoneName":"\#(zone)"},"operations":[\#(operations.joined(separator: ","))]}"#
    }
}
