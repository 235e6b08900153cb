// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TidebellCore
package import TidebellWire

/// `/assets/1/download/{token}/{name}`: the bytes of a file (web-services 4.4).
extension SendAsset: AssetEndpoint {
    /// Answers with the file or the part asked for, read while it is sent.
    package static func respond(
        to request: WebRequest, token: String, baseURL: String, in cloud: Cloud
    ) async throws -> WebResponse {
        let seal = AssetSeal(keys: cloud.assetSealKeys, baseURL: baseURL)
        guard let link = seal.link(token: token) else {
            throw WireError(.accessDenied, "the download URL was not made by this server")
        }
        guard link.expiresAt > cloud.time.now() else {
            throw WireError(
                .accessDenied, "the time of the download URL is up; fetch the record again"
            )
        }
        let (found, account) = try await cloud.store.read { reader in
            (try reader.assets([link.content])[link.content], try reader.account(of: link.user))
        }
        let slot = try cloud.transfers.downloads.takeSlot(
            for: cloud.shares.caller(account, of: request)
        )
        guard let asset = found else { throw WireError.assetIsGone }
        let tag = "\"\(asset.content.rawValue)\""
        var headers = headers(tag: tag)
        if let status = request.refusal(of: tag) {
            return WebResponse(status: status, headers: headers)
        }
        let range = request.range(of: asset, tag: tag)
        var status = 200
        var bytes = 0..<asset.size
        switch range {
        case .all: break
        case .part(let part):
            status = 206
            bytes = part
            headers[.contentRange] =
                "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(asset.size)"
        case .unsatisfiable:
            headers[.contentRange] = "bytes */\(asset.size)"
            return WebResponse(status: 416, headers: headers)
        }
        guard let body = try await cloud.assets.contents(of: asset, in: bytes) else {
            throw try await absence(of: asset, in: cloud)
        }
        headers[.contentLength] = String(bytes.upperBound - bytes.lowerBound)
        return WebResponse(status: status, headers: headers, body: body.holding(slot))
    }

    /// Why a file is not there: it was forgotten a moment ago, or somebody took it away.
    private static func absence(of asset: StoredAsset, in cloud: Cloud) async throws -> WireError {
        let known = try await cloud.store.read { try $0.assets([asset.content]) }[asset.content]
        guard known?.file == asset.file else { return .assetIsGone }
        cloud.assets.reportMissing(asset)
        return WireError(
            .notFound,
            "the server has lost the file; its operator finds it "
                + cloud.store.damageSearch.whereabouts
        )
    }

    /// The header fields of every answer. Files come from users: a browser must not take one for
    /// a page of this server's.
    private static func headers(tag: String) -> HTTPFields {
        [
            .contentType: "application/octet-stream",
            .xContentTypeOptions: "nosniff",
            .contentSecurityPolicy: "sandbox; default-src 'none'",
            .acceptRanges: "bytes",
            .cacheControl: "private, max-age=3600",
            .eTag: tag,
        ]
    }
}

extension UserReading {
    /// Returns the account of a user; nil for no user and for one who was removed.
    func account(of user: UserID?) throws -> AccountID? {
        guard let user else { return nil }
        return try users([user])[user]?.account
    }
}

extension WebRequest {
    /// The status of an answer without a body, when the request's conditions ask for
    /// one (RFC 9110, 13.2.2); nil for none.
    fileprivate func refusal(of tag: String) -> Int? {
        if let wanted = headers[.ifMatch], !EntityTags(wanted).contains(tag) { return 412 }
        if let known = headers[.ifNoneMatch], EntityTags(known).containsWeakly(tag) {
            return 304
        }
        return nil
    }

    /// The part of a file that is asked for, if it is still the same file; only GET has
    /// parts (RFC 9110, 14.2).
    fileprivate func range(of asset: StoredAsset, tag: String) -> ByteRange {
        guard method == .get, headers[.ifRange] ?? tag == tag else { return .all }
        return ByteRange(headers[.range], size: asset.size)
    }
}

extension WebResponse.Body {
    /// Returns the same content, which keeps a slot among the transfers while it is
    /// sent.
    fileprivate func holding(_ slot: HeldRequests.Slot) -> WebResponse.Body {
        guard case .file(let length, let produce) = self else { return self }
        return .file(length: length) { writer in
            try await produce(&writer)
            withExtendedLifetime(slot) {}
        }
    }
}

extension WireError {
    /// No record has held the file for long.
    fileprivate static let assetIsGone = WireError(.notFound, "the file no longer exists")
}
