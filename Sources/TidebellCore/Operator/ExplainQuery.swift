// SPDX-License-Identifier: Apache-2.0
import Synchronization
package import TidebellWire

/// Explains how a page of a query is found: by which index of each zone, and what is looked at.
extension ExplainQuery {
    /// Runs the query for a user and returns how that was done; of the records it finds, nothing is
    /// returned. Fails with ``OperatorError`` for a user that is not known, with `WireError` where
    /// the query is refused.
    package static func run(
        _ request: Request, in container: ContainerKey, limits: Limits = Limits(),
        at now: Instant, of identity: UInt64, in reader: any StoreReader
    ) throws -> QueryExplanation {
        try container.check()
        var call = Call(
            container: container, scope: request.database,
            user: try user(named: request.user, in: container, reader), usesExtensions: true,
            now: now, storeIdentity: identity, limits: limits, uuids: .unneeded
        )
        let reports = Reports()
        call.noteQuery = { report in reports.last.withLock { $0 = report } }
        // From its first page: a marker is sealed with the server's secret, which need not be here.
        var query = request.request
        query.continuationMarker = nil
        do {
            let page = try QueryRecords.run(query, for: call, in: reader)
            return QueryExplanation(
                reports.last.withLock { $0 }, moreComing: page.continuationMarker != nil)
        } catch let error as WireError {
            let report = reports.last.withLock { $0 }
            // Where nothing was looked at, the query itself is wrong.
            guard !report.zones.isEmpty else { throw error }
            return QueryExplanation(report, moreComing: true, refusal: error.reason)
        }
    }

    private static func user(
        named name: String?, in container: ContainerKey, _ reader: any StoreReader
    ) throws -> StoredUser? {
        guard let name else { return nil }
        guard let account = try reader.account(named: name) else {
            throw OperatorError(.unknown, .user, "There is no user '\(name)'.")
        }
        guard let user = try reader.user(of: account, in: container) else {
            throw OperatorError(
                .unsuitable, .user,
                "The user '\(name)' has not used the container \(container.container) "
                    + "(\(container.environment.rawValue)) yet.")
        }
        return user
    }
}

/// What a call reports while it runs.
private final class Reports: Sendable {
    let last = Mutex(QueryReport())
}

extension QueryExplanation {
    /// Creates the explanation of what a query reported.
    fileprivate init(_ report: QueryReport, moreComing: Bool, refusal: String? = nil) {
        self.init(
            zones: report.zones.map(Zone.init),
            wishes: report.wishes.map { IndexedForm(name: $0.name)?.text ?? $0.name },
            moreComing: moreComing, refusal: refusal)
    }
}

extension QueryExplanation.Zone {
    fileprivate init(_ zone: QueryReport.Zone) {
        let (index, reason): (String?, String) =
            switch zone.source {
            case .scan(let reason): (nil, reason)
            case .index(let name, let reason): (name, reason)
            }
        self.init(
            zone: zone.name, index: index, reason: reason, entries: zone.entries,
            records: zone.records, found: zone.found)
    }
}
