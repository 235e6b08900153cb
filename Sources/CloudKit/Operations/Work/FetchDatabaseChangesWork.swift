// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// The work of a ``CKFetchDatabaseChangesOperation``: page after page.
struct FetchDatabaseChangesWork: OperationWork {
    /// What the fetch ends with.
    typealias Value = (serverChangeToken: CKServerChangeToken, moreComing: Bool)

    /// The app's callbacks.
    struct Callbacks: @unchecked Sendable {
        // Sendable: called on the operation's callback queue only.
        var changed: ((CKRecordZone.ID) -> Void)?
        var deleted: ((CKRecordZone.ID) -> Void)?
        var purged: ((CKRecordZone.ID) -> Void)?
        var reset: ((CKRecordZone.ID) -> Void)?
        var tokenUpdated: ((CKServerChangeToken) -> Void)?
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
    let completion: Completion<Value>

    func perform(_ ledger: inout OperationLedger) async throws(CKError) -> Value {
        var syncToken = try token?.syncToken()
        var reported: [CKRecordZone.ID: News] = [:]
        while true {
            let request = FetchDatabaseChanges.Request(
                syncToken: syncToken,
                resultsLimit: resultsLimit
            )
            let answer = try await database.send(FetchDatabaseChanges.self, request, ledger.options)
            let page = answer.value
            for zone in page.zones { try reportZone(zone, ledger.run, &reported, answer.report) }
            let token = CKServerChangeToken(syncToken: page.syncToken)
            guard fetchesAll, page.moreComing else { return (token, page.moreComing) }
            guard page.syncToken != syncToken else { throw .standsStill(answer.report) }
            syncToken = page.syncToken
            ledger.run.callbacks.enqueue { callbacks.tokenUpdated?(token) }
            // At most one page's callbacks wait at a time.
            await ledger.run.callbacks.drained()
        }
    }

    /// Reports a zone, unless the app knows this already from an earlier page (TOK-7).
    private func reportZone(
        _ zone: ZoneResult,
        _ run: OperationRun,
        _ reported: inout [CKRecordZone.ID: News],
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
        guard reported.updateValue(news, forKey: zoneID) != news else { return }
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
            "The server reports that more changes are coming, but does not move on.",
            report: report
        )
    }
}
