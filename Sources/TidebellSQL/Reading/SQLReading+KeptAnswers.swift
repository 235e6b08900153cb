// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

extension KeptAnswer {
    /// What the answers take that are kept for a user.
    static let storedSize = "SELECT bytes FROM kept_answer_size WHERE user = ?"
}

extension SQLReading {
    package func keptAnswer(to write: WriteID) throws -> KeptAnswer? {
        try connection.first(
            """
            SELECT fingerprint, body FROM kept_answer
            WHERE user = ? AND client_id = ? AND request_id = ?
            """,
            write.user, write.clientID, write.requestID
        ) { KeptAnswer(fingerprint: $0.bytes(0), body: $0.bytes(1)) }
    }
}
