// SPDX-License-Identifier: Apache-2.0

extension HTML {
    /// Creates what a document of this server's own says that is written in the part of Markdown it needs: headings,
    /// paragraphs, tables, numbered lists and indented blocks of code, with `**bold**` and code in backquotes.
    init(markdown text: String) {
        var blocks: [[Substring]] = [[]]
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty { blocks.append([]) } else { blocks[blocks.count - 1].append(line) }
        }
        self = blocks.filter { !$0.isEmpty }.reduce("") { "\($0)\(Self.block($1))\n" }
    }

    private static func block(_ lines: [Substring]) -> HTML {
        switch lines[0] {
        case let line where line.hasPrefix("## "): return "<h2>\(span(line.dropFirst(3)))</h2>"
        case let line where line.hasPrefix("# "): return "<h1>\(span(line.dropFirst(2)))</h1>"
        case let line where line.hasPrefix("    "):
            // A text that is put in has no line ends of its own.
            let code = lines.dropFirst().reduce("\(String(lines[0].dropFirst(4)))" as HTML) {
                "\($0)\n\(String($1.dropFirst(4)))"
            }
            return "<pre tabindex=\"0\">\(code)</pre>"
        case let line where line.hasPrefix("|"): return table(lines)
        case let line where line.hasPrefix("1. "): return list(lines)
        default: return "<p>\(span(lines.joined(separator: " ")[...]))</p>"
        }
    }

    /// A table; its second line only tells the head from the rest.
    private static func table(_ lines: [Substring]) -> HTML {
        func row(_ line: Substring, _ name: HTML) -> HTML {
            let cells = line.dropFirst().dropLast().split(
                separator: "|", omittingEmptySubsequences: false)
            let content = cells.reduce("" as HTML) { row, cell in
                "\(row)<\(name)>\(span(cell.dropFirst().dropLast()))</\(name)>"
            }
            return "<tr>\(content)</tr>\n"
        }
        let rows = lines.dropFirst(2).reduce("" as HTML) { "\($0)\(row($1, "td"))" }
        return """
            <div class="scroll" tabindex="0"><table>
            <thead>\(row(lines[0], "th"))</thead>
            <tbody>
            \(rows)</tbody>
            </table></div>
            """
    }

    /// A numbered list; what is indented goes on with the line before.
    private static func list(_ lines: [Substring]) -> HTML {
        var items: [String] = []
        for line in lines {
            if line.first == " " {
                items[items.count - 1] += " " + line.drop { $0 == " " }
            } else {
                items.append(String(line.drop { $0 != " " }.dropFirst()))
            }
        }
        let content = items.reduce("" as HTML) { "\($0)<li>\(span($1[...]))</li>\n" }
        return "<ol>\n\(content)</ol>"
    }

    /// A text, in which code and what is bold stand between their signs.
    private static func span(_ text: Substring) -> HTML {
        var html: HTML = ""
        for (index, part) in text.split(separator: "`", omittingEmptySubsequences: false)
            .enumerated()
        {
            guard index.isMultiple(of: 2) else {
                html = "\(html)<code>\(String(part))</code>"
                continue
            }
            html = "\(html)\(bold(String(part)))"
        }
        return html
    }

    /// A text without code; what is bold begins and ends in it.
    private static func bold(_ text: String) -> HTML {
        var html: HTML = ""
        var isBold = false
        for part in text.split(separator: "**", omittingEmptySubsequences: false) {
            let piece: HTML = isBold ? "<strong>\(String(part))</strong>" : "\(String(part))"
            html = "\(html)\(piece)"
            isBold.toggle()
        }
        return html
    }
}
