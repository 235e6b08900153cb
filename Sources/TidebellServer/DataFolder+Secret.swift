// SPDX-License-Identifier: Apache-2.0
import Foundation
package import TidebellCore
import TidebellSQLite
package import TidebellScheduling

/// The secret of the store, and the key that versions before had instead.
extension DataFolder {
    /// The key of device IDs and links of stores before version 8, below the folder.
    static let olderKeyName = "\(assetsName)/key"

    /// Returns the secret of an open store, made where there is none. The key of an older
    /// version goes into the store then, and its file goes.
    ///
    /// Only for the one process that serves; what the operator can put right fails with
    /// ``OperatorError``.
    package func openSecret(
        of store: some Store, randomness: Randomness
    ) async throws -> MakeStoreSecret.Outcome {
        if let secret = try await store.read({ try $0.storeSecret() }) {
            try removeOlderKey(of: secret)
            return MakeStoreSecret.Outcome(secret: secret, replacesLostOne: false)
        }
        let inherited = try olderKey()
        let drawn = randomness.makeBytes(StoreSecret.length)
        let outcome = try await store.write(.store) {
            try MakeStoreSecret.run(drawn: drawn, inherited: inherited, in: $0)
        }
        try removeOlderKey(of: outcome.secret)
        return outcome
    }

    /// The problem of a store without its secret; nil where the key of an older version is
    /// there for it, and where nothing was made with one yet.
    func secretProblem(in findings: StoreFindings) -> StoreProblem? {
        guard !findings.hasSecret, findings.databases > 0, size(of: Self.olderKeyName) == nil
        else { return nil }
        return StoreProblem(
            "the store has no secret, as after a restore of a backup without keys: the next start "
                + "makes a new one, devices then have other IDs in records, and links to files "
                + "that apps have are no longer valid",
            .warning
        )
    }

    /// The key that an older version left; nil if there is none.
    private func olderKey() throws -> [UInt8]? {
        let file = url.appendingPathComponent(Self.olderKeyName)
        guard access(file.path, F_OK) == 0 || errno != ENOENT else { return nil }
        let key: [UInt8]
        do {
            key = try DurableFile.contents(of: file, upTo: StoreSecret.length + 1)
        } catch let error as DiskError {
            throw OperatorError("The key \(file.path) cannot be read: \(error.reason).")
        }
        guard key.count == StoreSecret.length else {
            throw OperatorError(
                "The key \(file.path), which the IDs of devices in records are made with, is "
                    + "damaged. Bring it back from a backup, where it has the same path; or remove "
                    + "it: devices have other IDs from then on."
            )
        }
        return key
    }

    /// Removes the file of a key that is durable in the store.
    private func removeOlderKey(of secret: StoreSecret) throws {
        let file = url.appendingPathComponent(Self.olderKeyName)
        // A file that cannot be read, or holds another key, was not made here.
        guard let inherited = secret.inherited,
            (try? DurableFile.contents(of: file, upTo: StoreSecret.length + 1)) == inherited
        else { return }
        do {
            guard unlink(file.path) == 0 else { throw DiskError("remove \(file.path)") }
            try DurableFile.flush(file.deletingLastPathComponent())
        } catch let error as DiskError {
            throw OperatorError(
                "The key \(file.path) is in the store now, and its file could not be removed: "
                    + "\(error.reason)."
            )
        }
    }
}
