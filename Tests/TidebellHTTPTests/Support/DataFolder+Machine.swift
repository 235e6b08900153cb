// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellScheduling
import TidebellServer

extension DataFolder {
    /// Opens the store on the machine's time and chance.
    func openStore(for purpose: StorePurpose) throws -> any OpenedStore {
        try openStore(for: purpose, time: .system, randomness: .system)
    }
}

extension RootKeyRotation {
    /// Changes the root key on the machine's time and chance.
    static func run(
        _ data: DataFolder, from old: RootKeySource, to new: RootKeySource, batchSize: Int = 100,
        stepped: () throws -> Void = {}
    ) async throws -> Outcome {
        try await run(
            data, from: old, to: new, batchSize: batchSize, time: .system, randomness: .system,
            stepped: stepped
        )
    }
}
