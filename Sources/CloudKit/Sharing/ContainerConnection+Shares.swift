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
    ///
    /// Each is accepted in its own container. Where there are several, what keeps one of them
    /// from being asked is the error of its shares only.
    func accept(
        _ metadatas: [CKShareMetadata], _ options: RequestOptions
    ) async throws(CKError) -> [Result<CKShare, CKError>] {
        if let error = OperationLimit.check(metadatas.count) { throw error }
        let groups = metadatas.indices.grouped { metadatas[$0].containerIdentifier }
        var results: [Int: Result<CKShare, CKError>] = [:]
        for (identifier, indices) in groups {
            // Without a URL the metadata is none that a server returned.
            let urls = indices.map {
                metadatas[$0].values.invitationURL ?? URL(fileURLWithPath: "/")
            }
            do throws(CKError) {
                let accepted = try await container(identifier).results(
                    AcceptShares.self, of: urls, ShareLookup(),
                    options.acting(in: container(identifier)))
                for (index, result) in zip(indices, accepted) {
                    results[index] = result.map(\.share)
                }
                if accepted.contains(where: { if case .success = $0 { true } else { false } }) {
                    LivingSyncEngines.noteSharingChange(
                        in: DatabaseConnection(container: container(identifier), scope: .shared))
                }
            } catch {
                guard groups.count > 1 else { throw error }
                for index in indices { results[index] = .failure(error) }
            }
        }
        return metadatas.indices.compactMap { results[$0] }
    }

    /// The container of a share as this device reaches it.
    private func container(_ identifier: String) -> ContainerConnection {
        identifier == self.identifier
            ? self : ContainerConnection(identifier: identifier, session: session)
    }

    /// Asks the owners of shares to let the signed-in user in; a result for each URL, in order.
    func requestAccess(
        to urls: [URL], _ options: RequestOptions
    ) async throws(CKError) -> [Result<Void, CKError>] {
        try await answers(RequestShareAccess.self, to: urls, ShareLookup(), options) {
            response, report in
            response.results.map { result in
                switch result {
                case .requested: .success(())
                case .failed(_, let error): .failure(.server(error, report: report))
                }
            }
        }
    }

    private func results<Endpoint: WireEndpoint>(
        _ endpoint: Endpoint.Type, of urls: [URL], _ lookup: ShareLookup,
        _ options: RequestOptions
    ) async throws(CKError) -> [Result<CKShareMetadata, CKError>]
    where Endpoint.Request == SharesRequest, Endpoint.Response == SharesResponse {
        try await answers(endpoint, to: urls, lookup, options) { response, report in
            response.results.map { result in
                switch result {
                case .share(let metadata):
                    Result { () throws(CKError) in
                        // Who calls is somebody else in every container.
                        let home = container(metadata.container.container)
                        return CKShareMetadata(try CKShareMetadata.Values(metadata, from: home))
                    }
                case .failed(_, let error): .failure(.server(error, report: report))
                }
            }
        }
    }

    /// Sends what URLs name, page by page, and returns a result for each URL, in order; what is no URL
    /// of a share is not sent.
    private func answers<Endpoint: WireEndpoint, Value>(
        _ endpoint: Endpoint.Type, to urls: [URL], _ lookup: ShareLookup,
        _ options: RequestOptions,
        _ read: (Endpoint.Response, CKError.ServerReport) -> [Result<Value, CKError>]
    ) async throws(CKError) -> [Result<Value, CKError>]
    where Endpoint.Request == SharesRequest, Endpoint.Response: WireBody {
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
        var answered: [Result<Value, CKError>] = []
        for page in toSend.chunked(by: WireProtocol.pageLimit) {
            let answer = try await send(
                endpoint, SharesRequest(shortGUIDs: Array(page)), options)
            answered += read(answer.value, answer.report)
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

extension RequestOptions {
    /// The same for whoever is signed in to a container, where the operation began for the one of
    /// another container.
    fileprivate func acting(in container: ContainerConnection) -> RequestOptions {
        var options = self
        if account != nil { options.account = container.accountPin }
        return options
    }
}
