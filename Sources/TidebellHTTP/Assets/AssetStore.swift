// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

/// The store of the files of records (ASSET-1): bytes under names that it
/// gives and never gives again. What the files are is the store's knowledge.
///
/// A file is kept from the moment the store knows it until the store has forgotten
/// it. In between, whatever stops the process leaves at most files that the store
/// does not know, and ``removeOrphanedFiles(unless:)`` finds them.
package protocol AssetStore: Sendable {
    /// Takes a file in as `produce` writes it, and hands it to `keep` when it is
    /// durable; removes it if `keep` returns another one or none.
    ///
    /// More than `limit` bytes fail with ``FileTooLong``, a full disk with
    /// `TRY_AGAIN_LATER`; nothing is left of them.
    func take(
        upTo limit: Int64,
        from produce: @Sendable (inout any BodyWriter) async throws -> Void,
        keep: @Sendable (StoredAsset) async throws -> StoredAsset?
    ) async throws -> StoredAsset?

    /// Returns a range of a file's bytes, read while they are sent; nil when there is
    /// no such file.
    func contents(of asset: StoredAsset, in range: Range<Int64>) async throws -> WebResponse.Body?

    /// Whether a file is where it should be, unread; true where that cannot be found out.
    func hasFile(of asset: StoredAsset) async -> Bool

    /// Reports to the operator that a file is not there though the store knows it.
    func reportMissing(_ asset: StoredAsset)

    /// Removes files the store has forgotten.
    func remove(_ files: [String]) async throws

    /// Removes the files that `known` does not return as known to the store;
    /// returns how many.
    func removeOrphanedFiles(
        unless known: @Sendable (Set<String>) async throws -> Set<String>
    ) async throws -> Int
}

/// A file had more bytes than it may have.
package struct FileTooLong: Error {
    /// Creates the error.
    package init() {}
}

/// The file store of a cloud that keeps no files.
package struct NoAssetStore: AssetStore {
    /// Creates a value.
    package init() {}

    /// Fails.
    package func take(
        upTo limit: Int64,
        from produce: @Sendable (inout any BodyWriter) async throws -> Void,
        keep: @Sendable (StoredAsset) async throws -> StoredAsset?
    ) async throws -> StoredAsset? {
        throw WireError.badRequest("this server keeps no files")
    }

    /// Returns nil.
    package func contents(
        of asset: StoredAsset, in range: Range<Int64>
    ) async throws -> WebResponse.Body? { nil }

    /// Returns false.
    package func hasFile(of asset: StoredAsset) async -> Bool { false }

    /// Does nothing.
    package func reportMissing(_ asset: StoredAsset) {}

    /// Does nothing.
    package func remove(_ files: [String]) async throws {}

    /// Returns 0.
    package func removeOrphanedFiles(
        unless known: @Sendable (Set<String>) async throws -> Set<String>
    ) async throws -> Int { 0 }
}
