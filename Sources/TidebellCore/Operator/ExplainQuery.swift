// SPDX-License-Identifier: Apache-2.0
import Synchronization
package import TidebellWire

/// Explains how a page of a query is found: by which index of each zone, and what is looked at.
package enum ExplainQuery {
    /// Whose query, and where.
    package struct Question: Sendable {
        package var container: ContainerKey
        package var scope: DatabaseScope
        /// The name of the account that asks; the public database needs none.
        package var userName: String?
        /// The body of `records/query`.
        package var request: QueryRecords.Request

        /// Creates a question.
        package init(
            container: ContainerKey, scope: DatabaseScope, userName: String?,
            request: QueryRecords.Request
        ) {
            self.container = container
            self.scope = scope
            self.userName = userName
            self.request = request
        }
    }

    /// Runs the query for a user and returns how that was done; of the records it finds, nothing is
    /// returned. Fails with ``OperatorError`` for a user that is not known, with `WireError` where
    /// the query is refused.
    package static func run(
        _ question: Question, limits: Limits = Limits(), at now: Instant, of identity: UInt64,
        in reader: any StoreReader
    ) throws -> QueryExplanation {
        try question.container.check()
        var call = Call(
            container: question.container, scope: question.scope,
            user: try user(of: question, in: reader), usesExtensions: true, now: now,
            storeIdentity: identity, limits: limits, uuids: .unneeded
        )
        let reports = Reports()
        call.noteQuery = { report in reports.last.withLock { $0 = report } }
        do {
            let page = try QueryRecords.run(question.request, for: call, in: reader)
            return QueryExplanation(
                report: reports.last.withLock { $0 }, hasMore: page.continuationMarker != nil)
        } catch let error as WireError {
            let report = reports.last.withLock { $0 }
            // Where nothing was looked at, the query itself is wrong.
            guard !report.zones.isEmpty else { throw error }
            return QueryExplanation(report: report, hasMore: true, refusal: error.reason)
        }
    }

    private static func user(
        of question: Question, in reader: any StoreReader
    ) throws -> StoredUser? {
        guard let name = question.userName else { return nil }
        guard let account = try reader.account(named: name) else {
            throw OperatorError(.unknown, .user, "There is no user '\(name)'.")
        }
        guard let user = try reader.user(of: account, in: question.container) else {
            throw OperatorError(
                .unsuitable, .user,
                "The user '\(name)' has not used the container \(question.container.container) "
                    + "(\(question.container.environment.rawValue)) yet.")
        }
        return user
    }
}

/// What a call reports while it runs.
private final class Reports: Sendable {
    let last = Mutex(QueryReport())
}

/// How a page of a query was found.
package struct QueryExplanation: Sendable, Hashable {
    package var report: QueryReport
    /// Whether another page follows.
    package var hasMore: Bool
    /// Why the query was refused after it had looked at records.
    package var refusal: String?

    /// Creates an explanation.
    package init(report: QueryReport, hasMore: Bool, refusal: String? = nil) {
        self.report = report
        self.hasMore = hasMore
        self.refusal = refusal
    }

    /// The explanation, a few lines for each zone.
    package var text: String {
        var lines = report.zones.map(\.text)
        if lines.isEmpty { lines.append("No zone was searched: the database is empty.") }
        for wish in report.wishes {
            let form = IndexedForm(name: wish.name)?.text ?? wish.name
            lines.append(
                "An index of \(form) would help; a server that runs makes it when it is asked "
                    + "this.")
        }
        if let refusal { lines.append("Refused: \(refusal)") }
        if hasMore, refusal == nil { lines.append("This was one page; more follow.") }
        return lines.joined(separator: "\n")
    }

    /// Writes the explanation as JSON.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("zones")
            writer.array(report.zones) { writer, zone in
                writer.object { writer in
                    writer.member("zone", zone.name)
                    switch zone.source {
                    case .scan(let reason):
                        writer.member("source", "scan")
                        writer.member("reason", reason)
                    case .index(let name, let reason):
                        writer.member("source", "index")
                        writer.member("index", name)
                        writer.member("reason", reason)
                    }
                    writer.member("entries", Int64(zone.entries))
                    writer.member("records", Int64(zone.records))
                    writer.member("found", Int64(zone.found))
                }
            }
            writer.key("wishes")
            writer.array(report.wishes) { writer, wish in
                writer.string(IndexedForm(name: wish.name)?.text ?? wish.name)
            }
            writer.member("moreComing", hasMore)
            if let refusal { writer.member("refusal", refusal) }
        }
    }
}

extension QueryReport.Zone {
    private func counted(_ count: Int, _ one: String, _ many: String) -> String {
        "\(count) \(count == 1 ? one : many)"
    }

    fileprivate var text: String {
        switch source {
        case .scan(let reason):
            """
            zone \(name): all records of the type, one by one: \(reason)
              looked at \(counted(records, "record", "records")), \(found) passed
            """
        case .index(let index, let reason):
            """
            zone \(name): the index of \(index): \(reason)
              looked at \(counted(entries, "entry", "entries")) and \
            \(counted(records, "record", "records")), \(found) passed
            """
        }
    }
}
