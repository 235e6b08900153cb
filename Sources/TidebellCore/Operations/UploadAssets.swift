// SPDX-License-Identifier: Apache-2.0
package import TidebellWire
import Foundation

extension UploadAssets {
    /// Notes which fields will get files (web-services 5.9); returns the record names,
    /// given or made, in order.
    ///
    /// - Parameter tokenHashes: The hash of each field's token.
    package static func run(
        _ request: Request, tokenHashes: [[UInt8]], for call: Call,
        in transaction: some AssetWriting & ZoneAccessReading & StorageUseReading
    ) throws -> [String] {
        let user = try call.requireUser()
        let access = try call.access(to: request.zoneID, in: transaction)
        try access.requireWriting()
        try access.requireRoom(call.limits, in: transaction)
        let limit = call.limits.awaitedUploadsPerUser
        let awaited = try transaction.awaitedUploadCount(of: user.id, at: call.now)
        guard awaited + request.tokens.count <= limit else {
            throw WireError(
                .throttled,
                "\(awaited) uploads were asked for and have not come, of at most \(limit) "
                    + "(awaitedUploadsPerUser); send their files, or wait",
                retryAfter: Double(call.limits.uploadTokenLifetime.components.seconds) / 10
            ).naming(.awaitedUploadsPerUser)
        }
        var uploads: [AwaitedUpload] = []
        var names: [String] = []
        for (index, (field, hash)) in zip(request.tokens, tokenHashes).enumerated() {
            let name = field.recordName ?? call.uuids[index].uuidString
            try Names.checkRecordName(name, limits: call.limits)
            try Names.checkRecordType(field.recordType, limits: call.limits)
            try Names.checkFieldName(field.fieldName, limits: call.limits)
            names.append(name)
            uploads.append(
                AwaitedUpload(
                    tokenHash: hash, user: user.id, session: call.session,
                    field: AssetField(
                        database: access.database.key, zoneName: access.zoneID.zoneName,
                        recordName: name,
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

    /// Takes over a file that came for a token, and then uses up the token: what stops it between
    /// the two leaves a file that no record has, and a token for sending it again.
    ///
    /// Returns the kept file, which is another one if the content was there already;
    /// nil when the token was used meanwhile.
    ///
    /// - Parameters:
    ///   - account: Who asked for the upload; nil where that was not noted.
    ///   - isThere: Whether a kept file is where it should be: instead of a lost one
    ///     comes what was sent.
    package static func finish(
        _ asset: StoredAsset, tokenHash: [UInt8], of account: AccountID?, at now: Instant,
        unlessKept isThere: (StoredAsset) -> Bool, as steps: some StoreSteps
    ) throws -> StoredAsset? {
        let kept = try steps.write(.store) { transaction -> StoredAsset? in
            guard try transaction.awaitedUpload(tokenHash: tokenHash) != nil else { return nil }
            let kept = try transaction.putAsset(asset, at: now)
            if kept.file == asset.file || isThere(kept) { return kept }
            try transaction.replaceAsset(by: asset)
            return asset
        }
        guard let kept else { return nil }
        // Of two that came at once both may be kept.
        _ = try steps.write(account.map { .account($0) } ?? .batch) {
            try $0.removeAwaitedUpload(tokenHash: tokenHash)
        }
        return kept
    }
}

extension WireError {
    /// The upload URL is not one, or not any more.
    package static let uploadNotAwaited = badRequest(
        "the upload URL is not valid: it was used, its time is up, or the sign-in has ended; "
            + "ask assets/upload for another",
        ckCode: CKErrorCode.assetNotAvailable
    )

    /// The file for an upload is longer than allowed (ASSET-7).
    ///
    /// - Parameter size: The length of the file; nil while nobody knows it.
    package static func assetTooLarge(_ size: Int64?, for upload: AwaitedUpload) -> WireError {
        let length = size.map { "\($0) bytes" } ?? "more than \(upload.byteLimit) bytes"
        return badRequest(
            "the file for \(upload.field.description) has \(length); "
                + "an asset may have \(upload.byteLimit) here",
            ckCode: CKErrorCode.limitExceeded
        ).naming(.assetBytes)
    }
}

extension AssetField {
    /// The field as reasons of errors name it.
    fileprivate var description: String {
        "field '\(WireError.shortened(fieldName ?? ""))' of record "
            + "'\(WireError.shortened(recordName ?? ""))'"
    }
}
