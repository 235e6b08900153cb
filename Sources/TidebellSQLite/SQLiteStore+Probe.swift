// SPDX-License-Identifier: Apache-2.0
import TidebellCore

extension SQLiteStore {
    /// Writes a row as it is and waits for the disk; fails where the next write would, and
    /// also when the file is not at its path any more: what is written then is lost.
    package func probe() async throws {
        do {
            guard isInPlace else {
                throw StoreUnavailable(.isGone, detail: "'\(pool.path)' is not the open file")
            }
            try await write { transaction in
                guard let transaction = transaction as? SQLiteTransaction else { return }
                try transaction.connection.run("UPDATE store SET identity = identity WHERE id = 1")
            }
        } catch {
            troubles.note(error)
            throw error
        }
    }
}
