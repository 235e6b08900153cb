// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// Rows that a statement takes like a table: names or numbers to look for, or pairs of them.
///
/// Statements are written for SQLite: `json_each(?) AS wanted` is the table; of a list with one
/// column `wanted.value` is the number, and ``text(_:)`` of it the text; of one with several
/// `wanted.value ->> 0` is the first. `wanted.key` is the place of the row.
package struct SQLList: Bindable {
    /// A column, with a value for each row.
    package enum Column {
        case numbers([Int64])
        case texts([String?])
    }

    /// At least one, of as many rows each.
    package let columns: [Column]
    /// Whether the order of the rows means nothing: that of a set is another one each time.
    package var isSet = false

    /// How many rows there are.
    package var rowCount: Int {
        switch columns[0] {
        case .numbers(let numbers): numbers.count
        case .texts(let texts): texts.count
        }
    }

    package static var sqlType: SQLType { .bytes }
    package var sqlValue: SQLValue { .list(self) }

    /// A list of texts.
    package init(_ texts: some Sequence<String>) {
        columns = [.texts(Array(texts))]
        isSet = texts is Set<String>
    }

    /// The same of texts that are compared as they are spelled.
    init(_ texts: some Sequence<ExactText>) {
        columns = [.texts(texts.map(\.text))]
        isSet = texts is Set<ExactText>
    }

    /// A list of numbers.
    package init(_ numbers: [Int64]) { columns = [.numbers(numbers)] }

    /// A list of pairs of numbers.
    init(_ rows: [(Int64, Int64)]) {
        columns = [.numbers(rows.map(\.0)), .numbers(rows.map(\.1))]
    }

    /// A list with columns of as many rows each.
    init(columns: [Column]) { self.columns = columns }

    /// A list of type, term and, where they have one, end of triggers.
    init(_ triggers: some Collection<SubscriptionTrigger>, haveEnds: Bool) {
        let ends = Column.texts(triggers.map { $0.end?.rawValue })
        columns =
            [
                .texts(triggers.map(\.recordType)), .texts(triggers.map(\.term.rawValue)),
            ] + (haveEnds ? [ends] : [])
    }

    /// The SQL of a text of the list: without U+0000, at which SQLite ends the strings of JSON, it
    /// and the sign of an escape, U+0001, are U+0001 with a letter there.
    package static func text(_ value: String) -> String {
        """
        CASE WHEN instr(\(value), char(1))
            THEN replace(replace(\(value), char(1, 65), char(0)), char(1, 66), char(1))
            ELSE \(value) END
        """
    }
}
