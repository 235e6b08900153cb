// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL
import TidebellSQLite
import TidebellScheduling

extension SQLiteStore {
    /// Opens a store on the machine's time and chance unless a test has its own.
    static func open(
        at path: String, for purpose: StorePurpose = .serving,
        bounds: StoreBounds = StoreBounds(), time: Time? = nil, randomness: Randomness? = nil,
        outboxNumbers: OutboxNumbers = .shared
    ) throws(StoreOpenError) -> SQLiteStore {
        let time: Time = time ?? Time.system
        let randomness: Randomness = randomness ?? Randomness.system
        return try open(
            at: path, for: purpose, bounds: bounds, time: time, randomness: randomness,
            outboxNumbers: outboxNumbers)
    }
}
