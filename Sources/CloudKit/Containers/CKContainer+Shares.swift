// SPDX-License-Identifier: Apache-2.0
public import Foundation

// Shares that others offer (SHARE-16, SHARE-18). Forms for several items report each item's
// result by itself and fail as a whole only when the request does (OP-13).
extension CKContainer {
    /// Fetches the metadata of a share from its URL.
    @preconcurrency
    public func fetchShareMetadata(
        with url: URL,
        completionHandler: @escaping @Sendable (CKShare.Metadata?, (any Error)?) -> Void
    ) {
        detached {
            do {
                completionHandler(try await self.shareMetadata(for: url), nil)
            } catch {
                completionHandler(nil, error)
            }
        }
    }

    /// Returns the metadata of a share from its URL, without accepting it.
    public func shareMetadata(for url: URL) async throws -> CKShare.Metadata {
        try await shareMetadatas(for: [url]).only(url)
    }

    /// Returns the metadata of shares from their URLs, without accepting them.
    public func shareMetadatas(
        for urls: [URL]
    ) async throws -> [URL: Result<CKShare.Metadata, any Error>] {
        let urls = urls.uniqued()
        let results = try await connection.metadata(of: urls, ShareLookup(), requestOptions)
        return Dictionary(
            uniqueKeysWithValues: zip(urls, results.map { $0.mapError { $0 as any Error } }))
    }

    /// Fetches the metadata of shares from their URLs.
    @preconcurrency
    public func fetchShareMetadatas(
        for urls: [URL],
        completionHandler:
            @escaping @Sendable (
                Result<[URL: Result<CKShare.Metadata, any Error>], any Error>
            ) -> Void
    ) {
        detached {
            do {
                completionHandler(.success(try await self.shareMetadatas(for: urls)))
            } catch {
                completionHandler(.failure(error))
            }
        }
    }

    /// Asks the owners of shares for access for the signed-in user (SHARE-21); returns a result for
    /// each URL.
    ///
    /// See ``CKShareRequestAccessOperation``.
    public func requestShareAccess(
        for urls: [URL]
    ) async throws -> [URL: Result<Void, any Error>] {
        let urls = urls.uniqued()
        let results = try await connection.requestAccess(to: urls, requestOptions)
        return Dictionary(
            uniqueKeysWithValues: zip(urls, results.map { $0.mapError { $0 as any Error } }))
    }

    /// Makes the signed-in user a participant of a share.
    @preconcurrency
    public func accept(
        _ metadata: CKShare.Metadata,
        completionHandler: @escaping @Sendable (CKShare?, (any Error)?) -> Void
    ) {
        detached {
            do {
                completionHandler(try await self.accept(metadata), nil)
            } catch {
                completionHandler(nil, error)
            }
        }
    }

    /// Accepts a share for the signed-in user; returns the share in its new state.
    @discardableResult
    public func accept(_ metadata: CKShare.Metadata) async throws -> CKShare {
        try await accept([metadata]).only(metadata)
    }

    /// Accepts shares for the signed-in user; returns the shares in their new state.
    public func accept(
        _ metadatas: [CKShare.Metadata]
    ) async throws -> [CKShare.Metadata: Result<CKShare, any Error>] {
        let metadatas = metadatas.uniqued()
        let results = try await connection.accept(metadatas, requestOptions)
        return Dictionary(
            uniqueKeysWithValues: zip(metadatas, results.map { $0.mapError { $0 as any Error } }))
    }

    /// Makes the signed-in user a participant of shares.
    @preconcurrency
    public func accept(
        _ metadatas: [CKShare.Metadata],
        completionHandler:
            @escaping @Sendable (
                Result<[CKShare.Metadata: Result<CKShare, any Error>], any Error>
            ) -> Void
    ) {
        detached {
            do {
                completionHandler(.success(try await self.accept(metadatas)))
            } catch {
                completionHandler(.failure(error))
            }
        }
    }
}
