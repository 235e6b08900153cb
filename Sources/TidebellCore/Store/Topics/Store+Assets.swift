// SPDX-License-Identifier: Apache-2.0

/// The files of records, and the uploads that are to come.
package protocol AssetReading {
    /// Returns the kept files with these contents.
    func assets(_ contents: Set<AssetContent>) throws -> [AssetContent: StoredAsset]

    /// Returns which of these file names are those of kept files.
    func knownAssetFiles(among files: Set<String>) throws -> Set<String>

    /// Returns an upload that has not come yet; expired ones too.
    func awaitedUpload(tokenHash: [UInt8]) throws -> AwaitedUpload?

    /// How many uploads a user has asked for that may still come.
    func awaitedUploadCount(of user: UserID, at now: Instant) throws -> Int
}

/// Files of records come, are held by records, and go.
package protocol AssetWriting: AssetReading {
    /// Notes uploads that are to come.
    func putAwaitedUploads(_ uploads: [AwaitedUpload]) throws

    /// Removes an upload that was to come; false if there was none.
    func removeAwaitedUpload(tokenHash: [UInt8]) throws -> Bool

    /// Removes uploads that expired before `moment` without having come, at most
    /// `limit`; returns how many went.
    func removeAwaitedUploads(expiredBefore moment: Instant, limit: Int) throws -> Int

    /// Notes a file and returns it; where its content is kept already, returns that
    /// file instead. Either way it counts as unused since `now` unless a record
    /// holds it.
    func putAsset(_ asset: StoredAsset, at now: Instant) throws -> StoredAsset

    /// Replaces the file that is kept of the same content by another, whose name is
    /// unknown from then on: that one is lost.
    func replaceAsset(by asset: StoredAsset) throws

    /// Replaces the files that records of a zone hold; what they let go of counts
    /// as unused since `now` unless another record holds it (ASSET-4).
    func putAssetUses(
        _ uses: [String: Set<AssetContent>], in zone: ZoneKey, at now: Instant
    ) throws

    /// Forgets the files that no record has held since `moment`, oldest first, and
    /// returns their names. Looks at no more than `limit` that may be such;
    /// `isComplete` is whether these were all.
    func removeUnusedAssets(
        since moment: Instant, limit: Int
    ) throws -> (files: [String], isComplete: Bool)
}
