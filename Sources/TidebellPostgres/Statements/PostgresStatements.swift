// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellPostgresClient
import TidebellSQL

/// What the statements of a store are for PostgreSQL, each spelled once for all connections.
///
/// Bounded by the texts that ``TidebellSQL`` has: values never stand in one.
final class PostgresStatements: Sendable {
    private let known = Mutex<[String: PostgresStatement]>([:])

    /// Returns how a statement is spelled that is written for SQLite.
    func statement(_ sql: String, _ values: [SQLValue]) -> PostgresStatement {
        if let statement = known.withLock({ $0[sql] }) { return statement }
        var lists: [Int: Int] = [:]
        for (index, value) in values.enumerated() {
            if case .list(let list) = value { lists[index + 1] = list.columns.count }
        }
        let statement = PostgresStatement(sql, lists: lists)
        known.withLock { $0[sql] = statement }
        return statement
    }
}

extension PostgresStatement.Parameter {
    /// The value of the parameter, of all that the statement has.
    func value(of values: [SQLValue]) -> PostgresValue {
        guard number <= values.count else { return .null(.unknown) }
        switch values[number - 1] {
        case .null(.number): return .null(.int8)
        case .null(.bytes): return .null(.bytea)
        case .number(let number): return .int64(number)
        case .text(let text): return .text(text)
        case .bytes(let bytes), .textBytes(let bytes): return .bytea(bytes)
        case .list(let list):
            switch list.columns[column ?? 0] {
            case .numbers(let numbers): return .int64Array(numbers)
            case .texts(let texts) where list.isSet:
                // So that the same set is the same value.
                let sorted = texts.compactMap(\.self).sorted()
                return .byteaArray(sorted.map { Array($0.utf8) })
            case .texts(let texts): return .byteaArray(texts.map { $0.map { Array($0.utf8) } })
            }
        }
    }
}
