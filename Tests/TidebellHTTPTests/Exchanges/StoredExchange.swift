// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// A request and its answer as they are stored in `Exchanges/Stories`, in the order in which one cloud is asked.
///
///     # What is shown.
///     QueryRecords POST private/records/query as anna, extended
///     > {"query":{"recordType":"Note"}}
///     < 200 {"records":[]}
///
/// A line that begins with spaces goes on with the one before. `{{name}}` is random: the first answer that has it
/// names it, and it is the same from there on; `{{*}}` is anything. What `!` begins is done by people, not by requests.
struct StoredExchange: Sendable, CustomStringConvertible {
    /// The name of the endpoint's type; nil for what people do.
    var endpoint: String?
    var method = ""
    /// The path after container and environment (`private/…`, `device/…`, `ext/…`), or a whole one.
    var target = ""
    /// Who asks: the name of a user, "nobody", "key" or "operator".
    var caller = "anna"
    /// Whether the client asks for extensions.
    var isExtended = false
    var request = ""
    var status = 0
    /// The content type, where it is not JSON.
    var type: String?
    var answer = ""
    /// What people do.
    var doing = ""

    var description: String { endpoint.map { "\($0) \(method) \(target)" } ?? doing }

    /// The stories, by the names of their files.
    static let stories: [(name: String, exchanges: [StoredExchange])] = {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Stories")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".txt") }.sorted().map { name in
            let text = try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            return (String(name.dropLast(4)), read(text ?? ""))
        }
    }()

    /// Reads a file.
    static func read(_ text: String) -> [StoredExchange] {
        var lines: [String] = []
        for line in text.split(separator: "\n") {
            if line.first == " " {
                lines[lines.count - 1] += line.drop { $0 == " " }
            } else {
                lines.append(String(line))
            }
        }
        var exchanges: [StoredExchange] = []
        for line in lines where !line.hasPrefix("#") {
            let rest = String(line.dropFirst(2))
            switch line.prefix(2) {
            case "> ": exchanges[exchanges.count - 1].request = rest
            case "< ": exchanges[exchanges.count - 1].readAnswer(rest)
            case "! ": exchanges.append(StoredExchange(doing: rest))
            default: exchanges.append(StoredExchange(head: line))
            }
        }
        return exchanges
    }

    private mutating func readAnswer(_ line: String) {
        let parts = line.split(separator: " ", maxSplits: 1)
        status = Int(parts[0]) ?? 0
        var rest = parts.count > 1 ? String(parts[1]) : ""
        if rest.first != "{" || rest.hasPrefix("{{"), let end = rest.firstIndex(of: "|") {
            type = rest[..<end].trimmingCharacters(in: .whitespaces)
            rest = String(rest[end...].dropFirst(2)).replacing("\\n", with: "\n")
        }
        answer = rest
    }
}

extension StoredExchange {
    fileprivate init(head line: String) {
        let words = line.replacing(",", with: "").split(separator: " ").map(String.init)
        guard words.count > 2 else { preconditionFailure("no exchange: \(line)") }
        self.init(endpoint: words[0], method: words[1], target: words[2])
        isExtended = words.contains("extended")
        if let index = words.firstIndex(of: "as") { caller = words[index + 1] }
    }
}

/// What is random in a story and was seen, by name.
struct SeenValues {
    private(set) var values: [String: String] = [:]

    subscript(name: String) -> String? {
        get { values[name] }
        set { values[name] = newValue }
    }

    /// Returns a text of the story with what was seen.
    func filled(_ text: String) -> String {
        values.reduce(text) { $0.replacing("{{\($1.key)}}", with: $1.value) }
    }

    /// Returns a stored answer with what is random in another, and remembers it; they are equal where they agree.
    mutating func filled(_ template: String, from text: String) -> String {
        var rest = filled(template)[...]
        var unread = text[...]
        var result = ""
        while let start = rest.range(of: "{{"), let end = rest[start.upperBound...].range(of: "}}")
        {
            let literal = rest[..<start.lowerBound]
            guard unread.hasPrefix(literal) else { break }
            unread = unread.dropFirst(literal.count)
            let name = String(rest[start.upperBound..<end.lowerBound])
            rest = rest[end.upperBound...]
            let next = rest[..<(rest.range(of: "{{")?.lowerBound ?? rest.endIndex)]
            let value =
                next.isEmpty
                ? unread : unread.range(of: next).map { unread[..<$0.lowerBound] } ?? ""
            unread = unread.dropFirst(value.count)
            result += literal + value
            guard name != "*" else { continue }
            guard !value.isEmpty, !value.contains("\"") else { break }
            values[name] = String(value)
            rest = filled(String(rest))[...]
        }
        return result + rest
    }
}
