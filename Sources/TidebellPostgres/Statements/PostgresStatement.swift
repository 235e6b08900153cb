// SPDX-License-Identifier: Apache-2.0

/// A statement as PostgreSQL spells it, made of one that is written for SQLite.
///
/// Only what the statements of ``TidebellSQL`` use is known; whatever else differs is an error of
/// PostgreSQL's when the statement is prepared, which a test does with all of them.
struct PostgresStatement: Hashable {
    /// What one `$n` is: a parameter of the statement from 1, or a column of the list that it is.
    struct Parameter: Hashable {
        var number: Int
        var column: Int?
    }

    var sql: String
    /// What `$1`, `$2` and so on are.
    var parameters: [Parameter]

    /// Whether it may change rows.
    var isWriting: Bool
    /// The table that it writes to, if it is known to be the only one.
    var writtenTable: String?
    /// The tables it reads, and some other names.
    var readTables: Set<String>

    /// Spells a statement.
    ///
    /// - Parameter lists: How many columns the parameters have that are lists, by their number.
    init(_ sqlite: String, lists: [Int: Int]) {
        let tokens = SQLToken.all(of: sqlite)
        isWriting = tokens.contains { token in
            ["INSERT", "UPDATE", "DELETE"].contains(where: token.is)
        }
        let names = zip(tokens, tokens.dropFirst())
        readTables = Set(
            names.lazy.filter { before, _ in ["FROM", "JOIN", ","].contains(where: before.is) }
                .map { $1.text.lowercased() })
        writtenTable = Self.writtenTable(tokens)
        var speller = Speller(lists: lists, tokens: tokens)
        speller.run()
        sql = speller.sql
        parameters = speller.parameters
    }

    /// What stands behind the first words of a statement that writes.
    private static func writtenTable(_ tokens: [SQLToken]) -> String? {
        guard let first = tokens.first else { return nil }
        let words = ["INSERT", "OR", "IGNORE", "INTO", "UPDATE", "DELETE", "FROM"]
        guard ["INSERT", "UPDATE", "DELETE"].contains(where: first.is) else { return nil }
        return tokens.first { token in !words.contains(where: token.is) }?.text.lowercased()
    }
}

private struct Speller {
    let lists: [Int: Int]
    let tokens: [SQLToken]
    private(set) var sql = ""
    private(set) var parameters: [PostgresStatement.Parameter] = []
    /// The names under which lists are read.
    private var names: Set<String> = []
    private var at = 0
    private var ignoresConflicts = false

    /// Words of SQL that are names of ours.
    private static let reserved: Set = ["user"]

    init(lists: [Int: Int], tokens: [SQLToken]) {
        self.lists = lists
        self.tokens = tokens
        for index in tokens.indices where isList(at: index) {
            names.insert(tokens[index + 5].text)
        }
    }

    mutating func run() {
        let end = outer("LIMIT") ?? tokens.count
        while at < end { step() }
        if let list = leadingList { sql += " ORDER BY \(list).place" }
        while at < tokens.count { step() }
        if ignoresConflicts { sql += " ON CONFLICT DO NOTHING" }
    }

    /// The list whose rows come in its order: SQLite joins from left to right, so that a query has no need
    /// to say so.
    private var leadingList: String? {
        guard tokens.first?.is("SELECT") == true, let from = outer("FROM"), isList(at: from + 1),
            tokens[from + 7..<tokens.count].first?.is("CROSS") == true,
            !["ORDER", "GROUP", "UNION"].contains(where: { outer($0) != nil }),
            !tokens[..<from].contains(where: { token in
                ["count", "sum", "total", "DISTINCT"].contains(where: token.is)
            })
        else { return nil }
        return tokens[from + 6].text
    }

    /// Where a word stands outside of all brackets.
    private func outer(_ word: String) -> Int? {
        var depth = 0
        return tokens.firstIndex { token in
            if token.is("(") { depth += 1 }
            if token.is(")") { depth -= 1 }
            return depth == 0 && token.is(word)
        }
    }

    /// Spells what begins with the next token.
    private mutating func step() {
        let token = tokens[at]
        if spellsText() || spellsList() || spellsListColumn() || spellsComparison() { return }
        if spellsLateral() || spellsLookup() { return }
        if token.is("CROSS"), next(1)?.is("JOIN") == true {
            // In the order in which they stand, for SQLite; PostgreSQL finds the order itself.
            if hasCondition(from: at + 2) { at += 1 }
            return copy()
        }
        if token.is("INDEXED"), next(1)?.is("BY") == true {
            at += 3
            return
        }
        if token.is("OR"), next(1)?.is("IGNORE") == true {
            ignoresConflicts = true
            at += 2
            return
        }
        if token.is("RETURNING"), ignoresConflicts {
            ignoresConflicts = false
            sql += " ON CONFLICT DO NOTHING"
        }
        if token.is("ifnull") { return replace("coalesce") }
        if token.is("last_insert_rowid") { return replace("lastval") }
        if token.is("randomblob"), let end = closing(at + 1) {
            // As many bytes as all of them ask for.
            put("uuid_send(gen_random_uuid())", token.space)
            at = end + 1
            return
        }
        if token.is("instr"), let end = closing(at + 1) { return spellSearch(until: end) }
        if token.is("group_concat"), let end = closing(at + 1) {
            put("string_agg", token.space)
            at += 1
            while at < end { step() }
            return put(", ','", "")
        }
        if token.is("max") || token.is("min"), let end = closing(at + 1), hasSeveral(at + 1, end) {
            return replace(token.is("max") ? "greatest" : "least")
        }
        if token.is("-"), next(1)?.text == "1", at > 0, tokens[at - 1].is("LIMIT") {
            put("ALL", token.space)
            at += 2
            return
        }
        copy()
    }

    // MARK: Lists

    /// `json_each(?) AS name`.
    private func isList(at index: Int) -> Bool {
        guard index + 5 < tokens.count, tokens[index].is("json_each"),
            case .parameter = tokens[index + 2].kind
        else { return false }
        return tokens[index + 4].is("AS")
    }

    private mutating func spellsList() -> Bool {
        guard isList(at: at), case .parameter(let number) = tokens[at + 2].kind else {
            return false
        }
        let columns = 0..<(lists[number] ?? 1)
        let values = columns.map { place(of: .init(number: number, column: $0)) }
        let named = columns.map { "c\($0)" } + ["place"]
        put(
            "unnest(\(values.joined(separator: ", "))) WITH ORDINALITY AS "
                + "\(tokens[at + 5].text) (\(named.joined(separator: ", ")))",
            tokens[at].space)
        at += 6
        return true
    }

    /// `name.value`, `name.value ->> 1` or `name.key`.
    private mutating func spellsListColumn() -> Bool {
        let token = tokens[at]
        guard names.contains(token.text), next(1)?.is(".") == true, let part = next(2) else {
            return false
        }
        if part.is("key") {
            put("(\(token.text).place - 1)", token.space)
            at += 3
        } else if part.is("value"), next(3)?.is("->>") == true, let column = next(4) {
            put("\(token.text).c\(column.text)", token.space)
            at += 5
        } else if part.is("value") {
            put("\(token.text).c0", token.space)
            at += 3
        } else {
            return false
        }
        return true
    }

    /// A text of a list (`SQLList.text(_:)`), which JSON has with escapes and an array without.
    private mutating func spellsText() -> Bool {
        guard tokens[at].is("CASE"), next(1)?.is("WHEN") == true, next(2)?.is("instr") == true
        else { return false }
        let space = tokens[at].space
        at += 4
        let start = sql.endIndex
        while !tokens[at].is(",") { step() }
        let text = sql[start...].drop { $0.isWhitespace }
        sql.replaceSubrange(start..., with: space + text)
        while !tokens[at].is("END") { at += 1 }
        at += 1
        return true
    }

    /// `instr(bytes, part)`, which is `position(part IN bytes)`.
    private mutating func spellSearch(until end: Int) {
        let space = tokens[at].space
        at += 2
        let whole = spelled { $0.tokens[$0.at].is(",") }
        at += 1
        let part = spelled { $0.at == end }
        at += 1
        put("position(\(part) IN \(whole))", space)
    }

    /// Takes out what is spelled until `isOver`.
    private mutating func spelled(until isOver: (Speller) -> Bool) -> String {
        let before = sql
        sql = ""
        defer { sql = before }
        while !isOver(self) { step() }
        return String(sql.drop { $0.isWhitespace })
    }

    /// `CROSS JOIN table AS name ON name.column IN (SELECT column …)`, where the query depends on what it
    /// is joined to: PostgreSQL would look at each row of the table.
    private mutating func spellsLateral() -> Bool {
        let words = ["CROSS", "JOIN", nil, "AS", nil, "ON", nil, ".", nil, "IN", "(", "SELECT"]
        let fits = words.enumerated().allSatisfy { distance, word in
            guard let word else { return next(distance) != nil }
            return next(distance)?.is(word) == true
        }
        guard fits, let name = next(4), next(6)?.text == name.text, let column = next(8),
            next(12)?.text == column.text, let end = closing(at + 10)
        else { return false }
        put("CROSS JOIN LATERAL (SELECT DISTINCT", tokens[at].space)
        at += 12
        while at <= end { step() }
        put("AS \(name.text)", " ")
        return true
    }

    /// A table in which the rows of what it is joined to are looked for: those of a list before it, or by an index that is named.
    ///
    /// SQLite looks for one after the other. PostgreSQL would decide by what it knows of the table: where that was empty when the statement
    /// was planned, or has few rows for most zones, it would read a whole large zone to find one name. It does not take apart
    /// what has an OFFSET.
    private mutating func spellsLookup() -> Bool {
        guard at > 1, tokens[at - 1].is("JOIN"), case .word = tokens[at].kind else { return false }
        let name = tokens[at]
        var (alias, end) = (name, at + 1)
        if end < tokens.count, tokens[end].is("AS") { (alias, end) = (tokens[end + 1], end + 2) }
        let isHinted = end < tokens.count && tokens[end].is("INDEXED")
        if isHinted { end += 3 }
        let followsList = at >= 8 && tokens[at - 2].is("CROSS") && isList(at: at - 8)
        guard isHinted || followsList else { return false }
        let conditions = conditions(of: alias, from: end)
        guard conditions.contains(where: { tokens[$0].dropFirst(4).contains { $0.text == "." } })
        else { return false }
        put("LATERAL (SELECT * FROM \(spelled(name))", tokens[at].space)
        if alias != name { put("AS \(spelled(alias))", " ") }
        for (index, condition) in conditions.enumerated() {
            put(index == 0 ? "WHERE" : "AND", " ")
            at = condition.lowerBound
            while at < condition.upperBound { step() }
        }
        put("OFFSET 0) AS \(spelled(alias))", " ")
        at = end
        return true
    }

    /// The conditions that a column of a table is equal to something that is known before: to what stands before the table where it is
    /// joined ON them, and else, WHERE, to a parameter or a column of a list.
    private func conditions(of alias: SQLToken, from start: Int) -> [Range<Int>] {
        let isJoined = start < tokens.count && tokens[start].is("ON")
        var (depth, first, found) = (0, isJoined ? start + 1 : nil as Int?, [Range<Int>]())
        func close(at end: Int) {
            guard let first, first + 4 < end else { return }
            let words = tokens[first..<end]
            guard words[first].text == alias.text,
                words[first + 1].is("."), words[first + 3].is("=")
            else { return }
            let others = zip(words.dropFirst(4), words.dropFirst(5)).filter { $1.is(".") }.map(\.0)
            let areKnown = others.allSatisfy {
                isJoined ? $0.text != alias.text : names.contains($0.text)
            }
            // One that is the same for all rows may be that of another index, which has a part of them only.
            let isOfOneRow = words.dropFirst(4).contains {
                if case .parameter = $0.kind { true } else { $0.is(".") }
            }
            if areKnown, isOfOneRow { found.append(first..<end) }
        }
        for index in start..<tokens.count {
            let token = tokens[index]
            if token.is(")") || token.is("END") { depth -= 1 }
            if depth < 0 || depth == 0 && token.is("UNION") {
                close(at: index)
                return found
            }
            if depth == 0, token.is("OR"), first != nil { return [] }
            if depth == 0, first == nil, token.is("WHERE") {
                first = index + 1
            } else if depth == 0, first != nil, token.is("AND") {
                close(at: index)
                first = index + 1
            } else if depth == 0, first.map({ $0 < index }) == true,
                ["WHERE", "CROSS", "LEFT", "JOIN", "GROUP", "ORDER", "LIMIT", "RETURNING"]
                    .contains(where: token.is)
            {
                close(at: index)
                return found
            }
            if token.is("(") || token.is("CASE") { depth += 1 }
        }
        close(at: tokens.count)
        return found
    }

    private func spelled(_ name: SQLToken) -> String {
        Self.reserved.contains(name.text) ? "\"\(name.text)\"" : name.text
    }

    // MARK: Comparisons

    /// `IS` and `IS NOT` of what is neither NULL nor a truth value.
    private mutating func spellsComparison() -> Bool {
        guard tokens[at].is("IS") else { return false }
        let isNegated = next(1)?.is("NOT") == true
        let value = next(isNegated ? 2 : 1)
        guard let value, !["NULL", "DISTINCT", "TRUE", "FALSE"].contains(where: value.is) else {
            return false
        }
        put(isNegated ? "IS DISTINCT FROM" : "IS NOT DISTINCT FROM", tokens[at].space)
        at += isNegated ? 2 : 1
        return true
    }

    // MARK: Tokens

    private func next(_ distance: Int) -> SQLToken? {
        at + distance < tokens.count ? tokens[at + distance] : nil
    }

    /// Whether what is joined has a condition.
    private func hasCondition(from start: Int) -> Bool {
        var depth = 0
        for token in tokens[start...] {
            if token.is("(") { depth += 1 }
            if token.is(")") { depth -= 1 }
            if depth < 0 { return false }
            guard depth == 0 else { continue }
            if token.is("ON") || token.is("USING") { return true }
            if ["JOIN", "CROSS", "LEFT", "WHERE", "GROUP", "ORDER", "LIMIT", "UNION", "RETURNING"]
                .contains(where: token.is)
            {
                return false
            }
        }
        return false
    }

    /// Where what an opening bracket begins ends.
    private func closing(_ start: Int) -> Int? {
        guard start < tokens.count, tokens[start].is("(") else { return nil }
        var depth = 0
        for index in tokens[start...].indices {
            if tokens[index].is("(") { depth += 1 }
            if tokens[index].is(")") { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }

    /// Whether there are several arguments in brackets.
    private func hasSeveral(_ start: Int, _ end: Int) -> Bool {
        var depth = 0
        return tokens[start...end].contains { token in
            if token.is("(") { depth += 1 }
            if token.is(")") { depth -= 1 }
            return depth == 1 && token.is(",")
        }
    }

    private mutating func place(of parameter: PostgresStatement.Parameter) -> String {
        if let known = parameters.firstIndex(of: parameter) { return "$\(known + 1)" }
        parameters.append(parameter)
        return "$\(parameters.count)"
    }

    private mutating func put(_ text: String, _ space: String) {
        sql += space + text
    }

    private mutating func replace(_ text: String) {
        put(text, tokens[at].space)
        at += 1
    }

    private mutating func copy() {
        let token = tokens[at]
        switch token.kind {
        case .parameter(let number):
            put(place(of: .init(number: number, column: nil)), token.space)
        case .word: put(spelled(token), token.space)
        case .number, .text, .sign: put(token.text, token.space)
        }
        at += 1
    }
}
