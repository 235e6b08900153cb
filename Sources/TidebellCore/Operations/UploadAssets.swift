// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension UploadAssets {
    /// Notes which fields will get files (web-services 5.9); returns the record names,
    /// given or made, in order.
    ///
    /// - Parameter tokenHashes: The hash of each field's token.
    package static func run(
        _ request: Request, tokenHashes: [[UInt8]], for call: Call,
        in transaction: any StoreTransaction
    ) throws -> [String] {
        _ = try call.requireUser()
        try call.requireZone(request.zoneID, in: transaction)
        let database = try call.databaseKey()
        var uploads: [AwaitedUpload] = []
        var names: [String] = []
        for (field, hash) in zip(request.tokens, tokenHashes) {
            let name = field.recordName ?? call.makeUUID().uuidString
            try Names.checkRecordName(name, limits: call.limits)
            try Names.checkRecordType(field.recordType, limits: call.limits)
            try Names.checkFieldName(field.fieldName, limits: call.limits)
            names.append(name)
            uploads.append(
                AwaitedUpload(
                    tokenHash: hash,
                    field: AssetField(
                        database: database, zoneName: request.zoneID.zoneName, recordName: name,
                        fieldName: field.fieldName
                    ),
                    byteLimit: call.limits.assetBytes(forExtendedClient: call.usesExtensions),
                    expiresAt: call.now.advanced(by: call.limits.uploadTokenLifetime)
                )
            )
        }
        try transaction.putAwaitedUploads(uploads)
        return names
    }

    /// Takes over a file that came for a token; the token is used up by it.
    ///
    /// Returns the kept file, which is another one if the content was there already;
    /// nil when the token was used meanwhile.
    package static func finish(
        _ asset: StoredAsset, tokenHash: [UInt8], at now: Instant,
        in transaction: any StoreTransaction
    ) throws -> StoredAsset? {
        guard try transaction.removeAwaitedUpload(tokenHash: tokenHash) else { return nil }
        return try transaction.putAsset(asset, at: now)
    }
}

extension WireError {
    /// The upload URL is not one, or not any more.
    package static let uploadNotAwaited = badRequest(
        "the upload URL is not valid: it was used, or its time is up; ask assets/upload for another"
    )

    /// A file is longer than allowed (ASSET-7).
    package static func assetTooLarge(limit: Int64) -> WireError {
        badRequest(
            "the file is larger than \(limit) bytes, the most an asset may have here",
            ckCode: CKErrorCode.limitExceeded
        )
    }
}

extension Call {
    /// Fails with `ZONE_NOT_FOUND` unless the zone exists.
    func requireZone(_ zoneID: ZoneID, in reader: any StoreReader) throws {
        _ = try zone(zoneID, in: reader)
    }
}
