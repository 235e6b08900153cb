// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import TidebellCore
package import TidebellWire

/// `/assets/1/upload/{token}`: takes the bytes of a file, whatever type is claimed
/// for them, or a form with the file in it (web-services 5.9).
extension ReceiveAsset: AssetEndpoint {
    /// Answers with the value a save takes, once the file is durable.
    ///
    /// The token is used up by that, not by an attempt: what broke off can be sent
    /// again.
    package static func respond(
        to request: WebRequest, token: String, baseURL: String, in cloud: Cloud
    ) async throws -> WebResponse {
        let hash = Secret.hash(token)
        let (upload, account) = try await cloud.store.read { reader in
            let upload = try reader.awaitedUpload(tokenHash: hash)
            // Only uploads that were asked for before that was noted are nobody's, in public
            // databases.
            let user = upload?.user ?? upload?.field.database.owner
            return (upload, try reader.account(of: user))
        }
        guard let upload, upload.expiresAt > cloud.time.now() else {
            throw WireError.uploadNotAwaited
        }
        // Not before: a caller without an upload to make takes no slot.
        let slot = try cloud.transfers.uploads.takeSlot(
            for: cloud.shares.caller(account, of: request)
        )
        defer { withExtendedLifetime(slot) {} }
        guard let kept = try await take(request, for: upload, of: account, in: cloud) else {
            throw WireError.uploadNotAwaited
        }
        return answer(kept, for: upload, baseURL: baseURL, in: cloud)
    }

    private static func take(
        _ request: WebRequest, for upload: AwaitedUpload, of account: AccountID?, in cloud: Cloud
    ) async throws -> StoredAsset? {
        let length = request.headers[.contentLength].flatMap { Int64($0) }
        do {
            guard length ?? 0 <= upload.byteLimit + Int64(FormFile.mostHeadBytes) else {
                throw FileTooLong()
            }
            return try await cloud.assets.take(upTo: upload.byteLimit) { writer in
                guard let form = try FormFile(of: request, into: writer) else {
                    return try await send(request.body, to: &writer)
                }
                var content: any BodyWriter = form
                try await send(request.body, to: &content)
                guard let read = content as? FormFile else { return }
                try read.finish()
                writer = read.file
            } keep: { asset in
                let now = cloud.time.now()
                let lost = try await lostFile(of: asset.content, in: cloud)
                return try await cloud.store.writeInSteps(for: nil) {
                    try UploadAssets.finish(
                        asset, tokenHash: upload.tokenHash, of: account, at: now,
                        unlessKept: { $0.file != lost }, as: $0)
                }
            }
        } catch is FileTooLong {
            throw WireError.assetTooLarge(length, for: upload)
        }
    }

    /// Returns the name of the kept file of this content if it is not where it should be; looked for outside of a
    /// transaction, as it may be on another machine.
    private static func lostFile(
        of content: AssetContent, in cloud: Cloud
    ) async throws -> String? {
        let known = try await cloud.store.read { try $0.assets([content])[content] }
        guard let known, await !cloud.assets.hasFile(of: known) else { return nil }
        return known.file
    }

    private static func send(
        _ body: WebRequest.Body, to writer: inout any BodyWriter
    ) async throws {
        switch body {
        case .bytes(let bytes): try await writer.write(bytes)
        case .tooLong: throw FileTooLong()
        case .stream(let produce): try await produce(&writer)
        case .pending(let body):
            body.isFromUser()
            try await body.stream(to: &writer)
        }
    }

    private static func answer(
        _ asset: StoredAsset, for upload: AwaitedUpload, baseURL: String, in cloud: Cloud
    ) -> WebResponse {
        let seal = AssetSeal(keys: cloud.assetSealKeys, baseURL: baseURL)
        var value = WireAsset(
            fileChecksum: asset.checksum, size: asset.size,
            receipt: seal.seal(AssetReceipt(content: asset.content, field: upload.field))
        )
        value.addKeys(of: asset.content, in: upload.field.database.scope, by: seal)
        let response = UploadAssets.Receipt(singleFile: value)
        return .json { response.write(to: &$0) }
    }
}
