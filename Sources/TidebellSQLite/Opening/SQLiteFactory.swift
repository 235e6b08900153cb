// SPDX-License-Identifier: Apache-2.0
package import Foundation
package import TidebellCore
package import TidebellScheduling

/// Keeps the store in one file of the data folder.
package struct SQLiteFactory: StoreFactory {
    /// The name of the file.
    package static let fileName = "tidebell.sqlite"

    /// Creates a factory.
    package init() {}

    package func open(
        in folder: URL, for purpose: StorePurpose, bounds: StoreBounds, time: Time,
        randomness: Randomness
    ) throws(StoreOpenError) -> any OpenedStore {
        try SQLiteStore.open(
            at: folder.appendingPathComponent(Self.fileName).path, for: purpose,
            bounds: bounds, time: time, randomness: randomness
        )
    }
}
