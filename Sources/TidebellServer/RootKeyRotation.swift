// SPDX-License-Identifier: Apache-2.0
package import Foundation
package import TidebellCore
import TidebellHTTP
package import TidebellScheduling

/// Changes the root key of a cloud that no server runs on.
///
/// Keys of zones and files, and kept answers, come under the new key; what they encrypt is not
/// touched. A change that is stopped goes on when it is asked for once more; until it has
/// ended no server starts.
package enum RootKeyRotation {
    /// What was done.
    package struct Outcome: Sendable {
        /// The names of both keys (``RootKey/rootKeyID``).
        package var oldID: String
        package var newID: String
        /// What came under the new key now, apart from what did before a stop.
        package var progress: ChangeRootKey.Progress
        /// Whether it went on with a change that was stopped.
        package var wasBegun: Bool
        /// Whether a file with the new key was made.
        package var madeKey: Bool
        /// Where the old key still lies in the data folder; nil where it does not.
        package var oldKeyLeft: URL?
        /// Whether the cloud worked with the new key already.
        package var wasDone: Bool
    }

    /// Keys and answers in one transaction.
    static let batchSize = 500

    /// Changes the root key from that of `old` to that of `new`, which is made where it is a
    /// file that is not there. What the operator can put right fails with ``OperatorError``.
    ///
    /// - Parameter stepped: Called after each transaction but the last one, for tests.
    package static func run(
        _ data: DataFolder, from old: RootKeySource, to new: RootKeySource,
        batchSize: Int = RootKeyRotation.batchSize, time: Time, randomness: Randomness,
        stepped: () throws -> Void = {}
    ) async throws -> Outcome {
        try data.checkIsNotLost()
        guard data.hasStore else {
            throw OperatorError("There is no cloud in \(data.url.path).")
        }
        let store = try data.openStore(for: .serving, time: time, randomness: randomness)
        do {
            let outcome = try await change(
                store, of: data, from: old, to: new, batchSize: batchSize, stepped: stepped)
            try await store.close()
            return outcome
        } catch {
            try await store.close()
            throw error
        }
    }

    private static func change(
        _ store: some Store, of data: DataFolder, from old: RootKeySource, to new: RootKeySource,
        batchSize: Int, stepped: () throws -> Void
    ) async throws -> Outcome {
        let (known, begun) = try await store.read {
            (try $0.rootKeyID(), try $0.nextRootKeyID())
        }
        guard let known else {
            throw OperatorError(
                "Nothing of the cloud in \(data.url.path) is encrypted yet: start the server with "
                    + "the root key that it is to have."
            )
        }
        let isMissing = begun == nil && new.isMissingFile
        let found = try isMissing ? nil : new.key(in: data.url, isNeeded: true)
        if begun == nil, found?.rootKeyID == known {
            return Outcome(
                oldID: known, newID: known, progress: .init(), wasBegun: false, madeKey: false,
                oldKeyLeft: nil, wasDone: true
            )
        }
        // Before a key is made: nothing is left of a mistake.
        let oldKey = try old.key(in: data.url, isNeeded: true)
        guard oldKey.rootKeyID == known else {
            throw OperatorError(
                "The key to change from is not the root key of this cloud (\(known)) but another "
                    + "one (\(oldKey.rootKeyID)). Name that one with --root-key-file or "
                    + "--root-key-command."
            )
        }
        let newKey = try found ?? new.make()
        if let begun, begun != newKey.rootKeyID {
            throw OperatorError(
                "A change to the root key \(begun) was stopped before its end, and the new key "
                    + "is \(newKey.rootKeyID). Name that one; afterwards it can be changed again."
            )
        }
        let keys = RootKeyChange(from: oldKey, to: newKey)
        var progress = ChangeRootKey.Progress()
        while !progress.hasEnded {
            progress = try await store.write(.everything) { [progress] in
                try ChangeRootKey.step(after: progress, with: keys, limit: batchSize, in: $0)
            }
            if !progress.hasEnded { try stepped() }
        }
        let file = DataFolder.rootKey(in: data.url)
        let left = try RootKeySource.dataFolder.knownKey(in: data.url, named: known).key
        return Outcome(
            oldID: known, newID: newKey.rootKeyID, progress: progress, wasBegun: begun != nil,
            madeKey: isMissing, oldKeyLeft: left == nil ? nil : file, wasDone: false
        )
    }
}
