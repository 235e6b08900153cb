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

    /// The statements of the specification, by the numbers of their anchors.
    private static func specified() throws -> [String] {
        let specification = try String(
            contentsOf: tests.deletingLastPathComponent()
                .appendingPathComponent("Documentation/Specification.md"),
            encoding: .utf8
        )
        return specification.matches(of: /<a id="([a-z]+-[0-9]+)"><\/a>/)
            .map { $0.1.uppercased() }
    }

    @Test("every statement of the specification has a row: its tests, or why there are none")
    func everyStatementHasARow() throws {
        let lines = try Self.lines(of: "STATEMENTS.md")
        let rows = lines.compactMap { $0.wholeMatch(of: /\| ([A-Z]+-[0-9]+) \| (.+) \|/) }
        #expect(rows.map { String($0.1) }.sorted() == (try Self.specified()).sorted())
        let tested = rows.count { $0.2.firstMatch(of: #/`\w+`: /#) != nil }
        #expect(lines.contains("\(tested) of \(rows.count) statements have a test."))
    }

    /// The numbers of the given families in a text, such as `SUB-53`.
    private static func numbers(in text: String, of families: Set<String>) -> Set<String> {
        var found: Set<String> = []
        let bytes = Array(text.utf8)
        for dash in bytes.indices where bytes[dash] == UInt8(ascii: "-") {
            let letters = bytes[..<dash].reversed().prefix { (65...90).contains($0) }
            let digits = bytes[(dash + 1)...].prefix { (48...57).contains($0) }
            let family = String(decoding: letters.reversed(), as: UTF8.self)
            guard !digits.isEmpty, families.contains(family) else { continue }
            found.insert("\(family)-\(String(decoding: digits, as: UTF8.self))")
        }
        return found
    }

    @Test("every number that code and documents cite has one statement in the specification")
    func numbersLeadSomewhere() throws {
        let root = Self.tests.deletingLastPathComponent()
        let anchors = try Self.specified()
        let known = Set(anchors)
        #expect(known.count == anchors.count)
        #expect(known.count > 400)
        let families = Set(known.compactMap { $0.split(separator: "-").first.map(String.init) })

        let sources = root.appendingPathComponent("Sources")
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path)
            .filter { $0.hasSuffix(".swift") || $0.hasSuffix(".md") }
            .map { sources.appendingPathComponent($0) }
        #expect(files.count > 400)
        let documents = ["README.md", "SECURITY.md", "Tests/STATEMENTS.md", "Tests/BUGS.md"]
            .map { root.appendingPathComponent($0) }
        for file in files + documents {
            let text = try String(contentsOf: file, encoding: .utf8)
            let unknown = Self.numbers(in: text, of: families).subtracting(known)
            #expect(unknown == [], "\(file.path)")
        }
        // And it finds what is cited.
        let cited = try Self.lines(of: "STATEMENTS.md").joined(separator: "\n")
        #expect(Self.numbers(in: cited, of: families).count > 400)
    }
}
