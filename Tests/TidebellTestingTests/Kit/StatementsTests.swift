// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite("STATEMENTS.md, BUGS.md")
struct StatementsTests {
    private static let tests = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The lines of a list, empty ones too.
    private static func lines(of list: String) throws -> [Substring] {
        try String(contentsOf: tests.appendingPathComponent(list), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// The first line of each run of rows that is no table, for want of a header and a separator:
    /// Markdown runs such rows into the text before them.
    private static func rowsWithoutTable(in lines: [Substring]) -> [Substring] {
        lines.indices.filter { index in
            let followsRow = index > 0 && lines[index - 1].hasPrefix("|")
            let isHeader = index + 1 < lines.count && lines[index + 1].hasPrefix("|---")
            return lines[index].hasPrefix("| ") && !followsRow && !isHeader
        }.map { lines[$0] }
    }

    /// The test targets and display names that a list cites.
    private static func cited(in lines: [Substring]) -> [(target: String, name: String)] {
        lines.filter { $0.hasPrefix("| ") }
            .flatMap { $0.dropFirst(2).dropLast(2).split(separator: " | ").dropFirst() }
            .flatMap { $0.split(separator: "<br>") }
            .compactMap { citation in
                guard let match = citation.wholeMatch(of: /`(\w+)`: (.+)/) else { return nil }
                return (String(match.1), String(match.2))
            }
    }

    /// All Swift text of a test target.
    private static func source(of target: String) throws -> String {
        let folder = tests.appendingPathComponent(target)
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try files.filter { $0.hasSuffix(".swift") }
            .map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }
            .joined()
    }

    @Test(
        "every test that the lists of statements and bugs cite exists",
        arguments: [("STATEMENTS.md", 150), ("BUGS.md", 30)]
    )
    func citedTestsExist(list: String, least: Int) throws {
        let lines = try Self.lines(of: list)
        #expect(Self.rowsWithoutTable(in: lines) == [])
        let cited = Self.cited(in: lines)
        #expect(cited.count > least)
        for (target, citations) in Dictionary(grouping: cited, by: \.target) {
            let source = try Self.source(of: target)
            for citation in citations {
                #expect(source.contains("\"\(citation.name)\""), "\(target)")
            }
        }
    }
}
