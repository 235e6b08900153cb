// SPDX-License-Identifier: Apache-2.0
internal import CTidebellPostgres

/// The rows of a statement that was sent without a wait, for whoever asks for them later.
package final class PostgresAnswer {
    // libpq's result; nil until it has come.
    private var result: OpaquePointer?
    private var sql = ""

    /// Creates an answer that has not come.
    package init() {}

    deinit { if let result { PQclear(result) } }

    /// Whether the rows are here.
    package var hasCome: Bool { result != nil }

    /// How many rows there are; 0 until they have come.
    package var count: Int { result.map { Int(PQntuples($0)) } ?? 0 }

    /// Calls `body` with each row, as often as it is asked.
    package func rows(_ body: (PostgresRow) throws -> Void) throws {
        guard let result else { return }
        let fault = PostgresRow.Fault()
        for index in 0..<PQntuples(result) {
            try body(PostgresRow(result: result, index: index, fault: fault))
            guard var error = fault.error else { continue }
            error.sql = sql
            throw error
        }
    }

    /// Takes over a result.
    func take(_ result: OpaquePointer, of sql: String) {
        if let earlier = self.result { PQclear(earlier) }
        (self.result, self.sql) = (result, sql)
    }
}
