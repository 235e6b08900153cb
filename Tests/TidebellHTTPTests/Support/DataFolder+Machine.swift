// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellScheduling
import TidebellServer
import TidebellTestStores

extension DataFolder {
    /// The same folder, whose store is opened by the engine of the tests.
    var onTestStores: DataFolder {
        var data = self
        data.stores = TestStores.factory
        return data
    }

    /// Opens the store on the engine of the tests, and the machine's time and chance.
    func openStore(for purpose: StorePurpose) throws -> any OpenedStore {
        try onTestStores.openStore(for: purpose, time: .system, randomness: .system)
    }
}

extension RootKeyRotation {
    /// Changes the root key on the engine of the tests, and the machine's time and chance.
    static func run(
        _ data: DataFolder, from old: RootKeySource, to new: RootKeySource, batchSize: Int = 100,
        stepped: () throws -> Void = {}
    ) async throws -> Outcome {
        try await run(
            data.onTestStores, from: old, to: new, batchSize: batchSize, time: .system,
            randomness: .system,
            stepped: stepped
        )
    }
}
