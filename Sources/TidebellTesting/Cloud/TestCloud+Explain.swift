// SPDX-License-Identifier: Apache-2.0
public import CloudKit
import TidebellCore
import TidebellWire

/// How the server finds the first page of a query's records; from ``TestCloud/explain(_:inZoneWith:scope:on:)``.
public struct ExplainedQuery: Sendable, Hashable, CustomStringConvertible {
    /// What is done in one zone.
    public struct Zone: Sendable, Hashable {
        /// The zone's name.
        public let name: String
        /// What the index is of that is used, such as `values of 'title'`; nil if all records of the
        /// type are looked at.
        public let index: String?
        /// Why that index, or why none.
        public let reason: String
        /// How many entries of the index are looked at.
        public let entriesLookedAt: Int
        /// How many records are looked at.
        public let recordsLookedAt: Int
        /// How many of them match.
        public let recordsFound: Int
    }

    /// The zones that are searched.
    public let zones: [Zone]
    /// What indexes would help, in the words of ``Zone/index``; a server builds them when the query
    /// is asked.
    public let missingIndexes: [String]
    /// Why the query is refused after it has looked at records; nil if it is not.
    public let refusal: String?
    /// What `tidebell query explain` prints, a few lines for each zone.
    public let description: String

    /// How many records are looked at in all zones.
    public var recordsLookedAt: Int { zones.reduce(0) { $0 + $1.recordsLookedAt } }

    init(_ explanation: QueryExplanation) {
        zones = explanation.zones.map { zone in
            Zone(
                name: zone.zone, index: zone.index, reason: zone.reason,
                entriesLookedAt: zone.entries, recordsLookedAt: zone.records,
                recordsFound: zone.found)
        }
        missingIndexes = explanation.wishes
        refusal = explanation.refusal
        description = explanation.text
    }
}

extension TestCloud {
    /// Explains how the server answers a query of a device, as `tidebell query explain` does: by which
    /// index, and how many records it looks at. It builds no index.
    ///
    /// ```swift
    /// let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "number == 77"))
    /// let explained = try await cloud.explain(query, on: phone)
    /// #expect(explained.recordsLookedAt < 100, "\(explained)")
    /// ```
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - zoneID: The zone to search; nil for all zones of the database.
    ///   - scope: In which database of the default container.
    ///   - device: Whose user asks, in whose environment.
    /// - Returns: What is looked at in each zone.
    /// - Throws: The `CKError` of a query that CloudKit does not support;
    ///   ``TestCloudError/misuse(_:)`` with the reason if the server refuses the query.
    public func explain(
        _ query: CKQuery, inZoneWith zoneID: CKRecordZone.ID? = nil,
        scope: CKDatabase.Scope = .private, on device: TestDevice
    ) async throws -> ExplainedQuery {
        let body = try await device.container().database(with: scope).body(of: query, in: zoneID)
        let request = ExplainQuery.Request(
            database: DatabaseScope(explained: scope), user: device.user,
            request: try JSONReader.read(body, QueryRecords.Request.init(from:)))
        let environment = CloudEnvironment(rawValue: device.environment.rawValue) ?? .development
        let container = ContainerKey(container: state.defaultContainer, environment: environment)
        let server = try state.running()
        let (now, limits) = (state.clock.instant, server.limits)
        let identity = server.store.identity
        do {
            return ExplainedQuery(
                try await server.store.read {
                    try ExplainQuery.run(
                        request, in: container, limits: limits, at: now, of: identity, in: $0)
                })
        } catch let error as OperatorError {
            throw TestCloudError.misuse(error.description)
        } catch let error as WireError {
            throw TestCloudError.misuse("The query is refused: \(error.reason).")
        }
    }
}

extension DatabaseScope {
    fileprivate init(explained scope: CKDatabase.Scope) {
        self =
            switch scope {
            case .public: .public
            case .private: .private
            case .shared: .shared
            }
    }
}
