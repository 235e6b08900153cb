// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// What to fetch with the metadata of shares.
struct ShareLookup: Sendable {
    /// Whether to fetch the records that are shared, too.
    var fetchesRoot = false
    /// The fields of these: nil is all.
    var rootKeys: [CKRecord.FieldKey]?
}

extension ContainerConnection {
    /// Fetches what is known of shares; a result for each URL, in order.
    func metadata(
        of urls: [URL], _ lookup: ShareLookup, _ options: RequestOptions
    ) async throws(CKError) -> [Result<CKShareMetadata, CKError>] {
        try await results(ResolveShares.self, of: urls, lookup, options)
    }

    /// Makes the signed-in user a participant of shares; a result for each, in order.
    func accept(
        _ metadatas: [CKShareMetadata], _ options: RequestOptions
    ) async throws(CKError) -> [Result<CKShare, CKError>] {
        // Without a URL the metadata is none that a server returned.
        let urls = metadatas.map { $0.share.url ?? URL(fileURLWithPath: "/") }
        return try await results(AcceptShares.self, of: urls, ShareLookup(), options)
            .map { $0.map(\.share) }
    }

    private func results<Endpoint: WireEndpoint>(
        _ endpoint: Endpoint.Type, of urls: [URL], _ lookup: ShareLookup,
        _ options: RequestOptions
    ) async throws(CKError) -> [Result<CKShareMetadata, CKError>]
    where Endpoint.Request == SharesRequest, Endpoint.Response == SharesResponse {
        if let error = OperationLimit.check(urls.count) { throw error }
        let named = urls.map { url in
            Result { () throws(CKError) in
                ShortGUID(
                    try Self.shortGUID(of: url), shouldFetchRootRecord: lookup.fetchesRoot,
                    rootRecordDesiredKeys: lookup.rootKeys
                )
            }
        }
        let toSend = named.compactMap { try? $0.get() }  // the others fail by themselves
        var answered: [Result<CKShareMetadata, CKError>] = []
        for page in toSend.chunked(by: WireProtocol.pageLimit) {
            let answer = try await send(
                endpoint, SharesRequest(shortGUIDs: Array(page)), options)
            answered += answer.value.results.map { result in
                switch result {
                case .share(let metadata):
                    Result { () throws(CKError) in
                        CKShareMetadata(try CKShareMetadata.Values(metadata, from: self))
                    }
                case .failed(_, let error): .failure(.server(error, report: answer.report))
                }
            }
        }
        var rest = answered.makeIterator()
        return try named.map { name throws(CKError) in
            switch name {
            case .failure(let error): return .failure(error)
            case .success:
                guard let result = rest.next() else {
                    throw .local(.internalError, "The server left out the result of a share.")
                }
                return result
            }
        }
    }
}
