// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import TidebellWire

/// The work of a ``CKFetchDatabaseChangesOperation``: page after page.
struct FetchDatabaseChangesWork: Sendable {
    /// The app's callbacks.
    struct Callbacks: @unchecked Sendable {
        // Sendable: called on the operation's callback queue only.
        var changed: ((CKRecordZone.ID) -> Void)?
        var deleted: ((CKRecordZone.ID) -> Void)?
        var purged: ((CKRecordZone.ID) -> Void)?
        var reset: ((CKRecordZone.ID) -> Void)?
        var tokenUpdated: ((CKServerChangeToken) -> Void)?
        var result:
            (
                (Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), any Error>) ->
                    Void
            )?
        var oldCompletion: ((CKServerChangeToken?, Bool, (any Error)?) -> Void)?
    }

    /// What happened to a zone.
    private enum News: Equatable {
        case changed
        case gone(ZoneDeletionReason)
    }

    let token: CKServerChangeToken?
    let resultsLimit: Int?
    let fetchesAll: Bool
    let database: DatabaseConnection
    let callbacks: Callbacks

    /// Does the work; returns the callback with the result.
    func perform(_ run: OperationRun) async -> LastCallback {
        let callbacks = callbacks
        let outcome: Result<(CKServerChangeToken, Bool), CKError>
        do {
            outcome = .success(try await fetch(run))
        } catch {
            outcome = .failure(error)
        }
        return LastCallback {
            switch outcome {
            case .success((let token, let moreComing)):
                if let result = callbacks.result {
                    result(.success((serverChangeToken: token, moreComing: moreComing)))
                } else {
                    callbacks.oldCompletion?(token, moreComing, nil)
                }
            case .failure(let error):
                if let result = callbacks.result {
                    result(.failure(error))
                } else {
                    callbacks.oldCompletion?(nil, false, error)
                }
            }
        }
    }

    private func fetch(
        _ run: OperationRun
    ) async throws(CKError) -> (CKServerChangeToken, moreComing: Bool) {
        var syncToken = try token?.syncToken()
        var told: [CKRecordZone.ID: News] = [:]
        while true {
            let request = FetchDatabaseChanges.Request(
                syncToken: syncToken,
                resultsLimit: resultsLimit
            )
            let answer = try await database.send(FetchDatabaseChanges.self, request, run.options)
            let page = answer.value
            for zone in page.zones { try tell(zone, run, &told, answer.report) }
            let token = CKServerChangeToken(syncToken: page.syncToken)
            guard fetchesAll, page.moreComing else { return (token, page.moreComing) }
            guard page.syncToken != syncToken else { throw .standsStill(answer.report) }
            syncToken = page.syncToken
            let callbacks = callbacks
            run.callbacks.enqueue { callbacks.tokenUpdated?(token) }
            // At most one page's callbacks wait at a time.
            await run.callbacks.drained()
        }
    }

    /// Reports a zone, unless the app knows this already from an earlier page (TOK-7).
    private func tell(
        _ zone: ZoneResult,
        _ run: OperationRun,
        _ told: inout [CKRecordZone.ID: News],
        _ report: CKError.ServerReport
    ) throws(CKError) {
        let (wire, news): (ZoneID, News) =
            switch zone {
            case .zone(let zone): (zone.zoneID, .changed)
            case .deleted(let zoneID, let reason): (zoneID, .gone(reason ?? .deleted))
            case .failed(_, let error): throw .server(error, report: report)
            }
        database.learn(from: wire)
        let zoneID = database.zoneID(wire)
        guard told.updateValue(news, forKey: zoneID) != news else { return }
        let callbacks = callbacks
        run.callbacks.enqueue {
            switch news {
            case .changed: callbacks.changed?(zoneID)
            case .gone(.deleted): callbacks.deleted?(zoneID)
            case .gone(.purged): (callbacks.purged ?? callbacks.deleted)?(zoneID)
            case .gone(.encryptedDataReset): (callbacks.reset ?? callbacks.deleted)?(zoneID)
            }
        }
    }
}

extension CKServerChangeToken {
    /// Creates a token of the text a server gave.
    convenience init(syncToken: String) {
        self.init(data: Data(syncToken.utf8))
    }

    /// Returns the text the server gave, or fails for bytes no server of ours can have
    /// given.
    func syncToken() throws(CKError) -> String {
        guard let text = String(validating: data, as: UTF8.self), !text.isEmpty else {
            throw .local(
                .changeTokenExpired,
                "The change token was made by another service; fetch without a token."
            )
        }
        return text
    }
}

extension CKError {
    /// Creates the error of a server that promises more but repeats itself, which would
    /// have the operation ask for ever.
    static func standsStill(_ report: ServerReport) -> CKError {
        .server(
            .internalError,
            "The server says that more changes are coming, but does not move on.",
            report: report
        )
    }
}
