// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

extension SQLTransaction {
    package func beginRootKeyChange(to id: String) throws {
        hasQuietChange = true
        try connection.run("UPDATE store SET next_root_key = ?", id)
    }

    package func putFileKeys(_ keys: [AssetContent: [UInt8]], wrappedBy rootKeyID: String) throws {
        hasQuietChange = true
        for (content, key) in keys {
            try connection.run(
                "UPDATE asset SET key = ?, root_key = ? WHERE content = ?", key, rootKeyID, content
            )
        }
    }

    package func replaceKeptAnswers(_ answers: [Int64: KeptAnswer]) throws {
        for (number, answer) in answers {
            try connection.run(
                "UPDATE kept_answer SET fingerprint = ?, body = ? WHERE number = ?",
                answer.fingerprint, answer.body, number
            )
        }
    }

    package func endRootKeyChange() throws {
        hasQuietChange = true
        try connection.run(
            """
            UPDATE store SET root_key = next_root_key, next_root_key = NULL
            WHERE next_root_key IS NOT NULL
            """
        )
    }
}
