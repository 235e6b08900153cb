// SPDX-License-Identifier: Apache-2.0
import TidebellPostgresClient

extension PostgresConnection {
    /// Commits, and throws where that has not happened, or nobody knows.
    func commitOrThrow() throws {
        switch commit() {
        case .committed: return
        case .notCommitted(let error), .unknown(let error): throw error
        }
    }
}
