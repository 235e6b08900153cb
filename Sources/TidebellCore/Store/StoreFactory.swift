// SPDX-License-Identifier: Apache-2.0
package import Foundation
package import TidebellScheduling

/// What a store is opened for.
package enum StorePurpose: Sendable, Hashable {
    /// To serve: one process at a time.
    case serving
    /// To add accounts and tokens, also while a server runs.
    case administering
}

/// Opens stores of one engine.
package protocol StoreFactory: Sendable {
    /// Whether the store is a file of the data folder. Otherwise the folder has only the root key, and the
    /// files of records.
    var isInDataFolder: Bool { get }

    /// Opens the store of a data folder, made with the folder if there is none.
    ///
    /// A new store gets an identity of `randomness`. One that is opened for serving and came
    /// back from an older moment than the one that was served last begins a new life, as of
    /// `time`: ``OpenedStore/cameBackOlder`` is true then.
    func open(
        in folder: URL, for purpose: StorePurpose, bounds: StoreBounds, time: Time,
        randomness: Randomness
    ) throws(StoreOpenError) -> any OpenedStore
}

extension StoreFactory {
    package var isInDataFolder: Bool { true }

    /// Opens the store of a data folder, with the default bounds.
    package func open(
        in folder: URL, for purpose: StorePurpose, time: Time, randomness: Randomness
    ) throws(StoreOpenError) -> any OpenedStore {
        try open(
            in: folder, for: purpose, bounds: StoreBounds(), time: time, randomness: randomness)
    }
}

/// A store as who opened it has it: what happens to it, beside its transactions.
package protocol OpenedStore: Store {
    /// Whether the store was seen at the start to lack what it had before, and so began a
    /// new life.
    var cameBackOlder: Bool { get }

    /// Whether writes meet a full or failing disk.
    var troubles: StoreTroubles { get }

    /// The same of each of its cells, by their names; empty for a store that is in one. One of them may fail, and the others go on.
    var troublesOfCells: [String: StoreTroubles] { get }

    /// Has `body` called once the store can be served no more until a restart, because it is not what it was when
    /// it was opened; its writes fail from then on.
    func whenLost(_ body: @escaping @Sendable (StoreOpenError) -> Void)

    /// Begins a new life of the store, which came back from an older moment.
    ///
    /// Sync tokens of the lost life are expired from now on, and streams that go on after a
    /// notification of it get the news that they missed some. No number is given out that the
    /// lost life may have given out. Devices, webhooks and native tokens stay where they
    /// were, so that they may receive once more what they received in the lost life.
    ///
    /// Needs a store that is open for ``StorePurpose/serving``: nobody else may be at it.
    func beginNewIncarnation(at now: Instant) async throws
}

extension OpenedStore {
    /// A store that is in one.
    package var troublesOfCells: [String: StoreTroubles] { [:] }

    /// A store that is never lost so.
    package func whenLost(_ body: @escaping @Sendable (StoreOpenError) -> Void) {}
}
