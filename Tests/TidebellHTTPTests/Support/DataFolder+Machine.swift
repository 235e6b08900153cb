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
