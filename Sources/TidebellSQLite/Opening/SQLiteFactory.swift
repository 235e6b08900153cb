// SPDX-License-Identifier: Apache-2.0
package import Foundation
package import TidebellCore
package import TidebellSQL
package import TidebellScheduling

/// Keeps the store in one file of the data folder.
package struct SQLiteFactory: StoreFactory {
    /// The name of the file.
    package static let fileName = "tidebell.sqlite"

    private let numbers: NotificationNumbers
    private let outboxNumbers: OutboxNumbers

    /// Creates a factory of stores whose notifications and outboxes are numbered in one way or
    /// the other.
    package init(numbers: NotificationNumbers = .shared, outboxNumbers: OutboxNumbers = .shared) {
        self.numbers = numbers
        self.outboxNumbers = outboxNumbers
    }

    package func open(
        in folder: URL, for purpose: StorePurpose, bounds: StoreBounds, time: Time,
        randomness: Randomness
    ) throws(StoreOpenError) -> any OpenedStore {
        try SQLiteStore.open(
            at: folder.appendingPathComponent(Self.fileName).path, for: purpose,
            bounds: bounds, time: time, randomness: randomness, numbers: numbers,
            outboxNumbers: outboxNumbers
        )
    }
}
