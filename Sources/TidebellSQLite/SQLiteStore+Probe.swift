// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL
import GRDB

extension SQLiteStore {
    /// The number of an account that no store gives.
    private static let nobody = AccountID(rawValue: -1)

    /// Writes a row, takes it back and waits for the disk; fails where the next write would.
    ///
    /// A row that still fits proves nothing about larger ones: while these meet a full or failing
    /// disk, the probe fails as they do.
    package func probe() async throws {
        do {
            try await write(.account(Self.nobody)) { transaction in
                guard let transaction = transaction as? SQLTransaction else { return }
                // NB: SQLite writes nothing for an update that changes nothing.
                try transaction.connection.run(
                    "INSERT INTO erased (account, kind, count) VALUES (?, 'probe', 1)", Self.nobody
                )
                try transaction.connection.run(
                    "DELETE FROM erased WHERE account = ?", Self.nobody
                )
            }
        } catch {
            troubles.note(error)
            throw error
        }
        switch troubles.present {
        case let present? where [.diskIsFull, .diskFails].contains(present.cause): throw present
        default: return
        }
    }
}
