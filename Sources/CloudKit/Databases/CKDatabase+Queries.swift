// SPDX-License-Identifier: Apache-2.0
import Foundation

// Searching for records. Each call is one page of results; the cursor shows whether there
// is more (QUERY-16).
extension CKDatabase {
    /// Searches for records, and hands over the first page of them.
    ///
    /// No zone is every zone; a shared database demands one (QUERY-12, QUERY-13). Records
    /// beyond the first page are not returned: use ``CKQueryOperation`` for many.
    @available(
        *, deprecated,
        renamed: "fetch(withQuery:inZoneWith:desiredKeys:resultsLimit:completionHandler:)"
    )
    @preconcurrency
    public func perform(
        _ query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID?,
        completionHandler: @escaping @Sendable ([CKRecord]?, (any Error)?) -> Void
    ) {
        fetch(withQuery: query, inZoneWith: zoneID) { result in
            result.flatMap { $0.matchResults.map(\.1).allOrError() }.hand(to: completionHandler)
        }
    }

    /// Returns the first page of the records a query finds.
    @available(
        *, deprecated, renamed: "records(matching:inZoneWith:desiredKeys:resultsLimit:)"
    )
    public func perform(
        _ query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID?
    ) async throws -> [CKRecord] {
        try await page(of: query, inZoneWith: zoneID).matchResults.map(\.1).allOrError().get()
    }

    /// Returns the first page of the records a query finds.
    @available(
        *, deprecated, renamed: "records(matching:inZoneWith:desiredKeys:resultsLimit:)"
    )
    @_disfavoredOverload
    public func records(
        matching query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID?
    ) async throws -> [CKRecord] {
        try await page(of: query, inZoneWith: zoneID).matchResults.map(\.1).allOrError().get()
    }

    /// Searches for records, and passes the first page of results to the handler, in the order of
    /// the query.
    ///
    /// - Parameters:
    ///   - query: What to search for.
    ///   - zoneID: The zone to search; nil is every zone, which a shared database refuses
    ///     with `invalidArguments` (QUERY-12, QUERY-13).
    ///   - desiredKeys: The fields to fetch; nil fetches all fields, an empty array only the system
    ///     fields.
    ///   - resultsLimit: The most records; fewer may come (QUERY-16).
    ///   - completionHandler: Gets the page, or an error.
    @preconcurrency
    public func fetch(
        withQuery query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
                        queryCursor: CKQueryOperation.Cursor?
                    ), any Error
                >
            ) -> Void
    ) {
        let operation = CKQueryOperation(query, zoneID, desiredKeys, resultsLimit)
        operation.collect(completionHandler)
        run(operation)
    }

    /// Passes the page of results that begins at a cursor to the handler (QUERY-17).
    @preconcurrency
    public func fetch(
        withCursor queryCursor: CKQueryOperation.Cursor,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
                        queryCursor: CKQueryOperation.Cursor?
                    ), any Error
                >
            ) -> Void
    ) {
        let operation = CKQueryOperation(queryCursor, desiredKeys, resultsLimit)
        operation.collect(completionHandler)
        run(operation)
    }

    /// Returns the first page of the records a query finds, in its order.
    ///
    /// - Parameters:
    ///   - query: What to search for.
    ///   - zoneID: The zone to search; nil is every zone, which a shared database refuses
    ///     with `invalidArguments` (QUERY-12, QUERY-13).
    ///   - desiredKeys: The fields to fetch; nil fetches all fields, an empty array only the system
    ///     fields.
    ///   - resultsLimit: The most records; fewer may come (QUERY-16).
    public func records(
        matching query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults
    ) async throws -> (
        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
        queryCursor: CKQueryOperation.Cursor?
    ) {
        try await page(
            of: query, inZoneWith: zoneID, desiredKeys: desiredKeys, resultsLimit: resultsLimit)
    }

    /// Returns the page of records that begins at a cursor (QUERY-17).
    public func records(
        continuingMatchFrom queryCursor: CKQueryOperation.Cursor,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults
    ) async throws -> (
        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
        queryCursor: CKQueryOperation.Cursor?
    ) {
        let operation = CKQueryOperation(queryCursor, desiredKeys, resultsLimit)
        return try await value(of: operation) { operation.collect($0) }
    }

    /// Returns the first page; the name distinguishes it from the deprecated forms.
    private func page(
        of query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID?,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults
    ) async throws -> (
        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
        queryCursor: CKQueryOperation.Cursor?
    ) {
        let operation = CKQueryOperation(query, zoneID, desiredKeys, resultsLimit)
        return try await value(of: operation) { operation.collect($0) }
    }
}

extension CKQueryOperation {
    fileprivate convenience init(
        _ query: CKQuery,
        _ zoneID: CKRecordZone.ID?,
        _ desiredKeys: [CKRecord.FieldKey]?,
        _ resultsLimit: Int
    ) {
        self.init(query: query)
        self.zoneID = zoneID
        self.desiredKeys = desiredKeys
        self.resultsLimit = resultsLimit
    }

    fileprivate convenience init(
        _ cursor: CKQueryOperation.Cursor,
        _ desiredKeys: [CKRecord.FieldKey]?,
        _ resultsLimit: Int
    ) {
        self.init(cursor: cursor)
        self.desiredKeys = desiredKeys
        self.resultsLimit = resultsLimit
    }

    /// Sets the callbacks to hand over all results at once.
    fileprivate func collect(
        _ done:
            @escaping ResultHandler<
                (
                    matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
                    queryCursor: CKQueryOperation.Cursor?
                )
            >
    ) {
        var matches: [(CKRecord.ID, Result<CKRecord, any Error>)] = []
        recordMatchedBlock = { matches.append(($0, $1)) }
        queryResultBlock = { result in
            done(result.map { (matchResults: matches, queryCursor: $0) })
        }
    }
}
