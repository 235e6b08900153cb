// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What explaining pushes needs of the store.
package typealias PushExplaining = ExplanationReading & ZoneReading & RecordReading & SchemaReading
    & SubscriptionReading & DeviceReading & AccountReading & UserReading
    & ShareReading & SharedRecordReading & SharedZoneReading

/// Puts explanations together from what the store keeps and from the same rules
/// that decided.
///
/// Cost grows with what is kept, so it is for people, not for programs that poll.
struct PushExplainer {
    /// Changes looked at for one explanation.
    static let changesLookedAt = 2_000
    /// Changes read at once.
    static let changesPerPage = 100
    /// Subscribers of one database looked at.
    static let subscribers = 20
    /// Subscriptions shown for one change.
    static let subscriptions = 50
    /// Matches of one change looked at.
    static let matches = 500
    /// Notifications shown of one subscription and change.
    static let notifications = 10
    /// Records shown of one change.
    static let records = 3
    /// Attempts looked at of one notification.
    static let attempts = 200

    let query: PushExplanation.Query
    let reader: any PushExplaining
    /// The account asked for.
    let account: AccountID?
    private var names: [UserID: String] = [:]
    private var databases: [DatabaseID: StoredDatabase] = [:]
    /// What was looked up about participants.
    var participantLookups = ParticipantLookups()

    init(_ query: PushExplanation.Query, _ reader: any PushExplaining) throws {
        self.query = query
        self.reader = reader
        account = try query.userName.flatMap { try reader.account(named: $0) }
    }

    // MARK: Changes

    /// Returns the changes that are asked for, newest first.
    mutating func changes() throws -> [ExplainedChange] {
        var found: [ExplainedChange] = []
        let limit = min(max(query.last, 1), PushExplanation.Query.mostChanges)
        if let notificationID = query.notificationID {
            let matches = try reader.notifiedMatches(
                notificationID: notificationID, limit: Self.matches)
            // A notification is about one database.
            let newestFirst = Set(matches.map(\.change)).sorted { $0.position > $1.position }
            for id in newestFirst.prefix(limit) {
                guard let change = try reader.keptChange(id),
                    let explained = try explained(change)
                else { continue }
                found.append(explained)
            }
            return found
        }
        found = try changesOfDatabases(limit: limit)
        // Of whom is asked for, also what did not come to them.
        let notTaken = try changesNotTaken(limit: limit)
        guard !notTaken.isEmpty else { return found }
        return Array(
            (found + notTaken).sorted { $0.committedAt > $1.committedAt }.prefix(limit))
    }

    /// Returns those in the databases that are asked for, likewise.
    private mutating func changesOfDatabases(limit: Int) throws -> [ExplainedChange] {
        var found: [ExplainedChange] = []
        try KeptChangeQuery(query, account).forEach(in: reader, upTo: Self.changesLookedAt) {
            if let explained = try explained($0) { found.append(explained) }
            return found.count < limit
        }
        return found
    }

    /// Returns the explanation of a change; nil for one that is not asked for.
    mutating func explained(_ change: KeptChange) throws -> ExplainedChange? {
        let entry = change.entry
        guard query.concerns(entry), let database = try database(entry.database) else {
            return nil
        }
        var explained = ExplainedChange(
            id: entry.id,
            database: ExplainedDatabase(
                container: database.key.container, scope: database.key.scope,
                ownerName: try database.key.owner.flatMap { try name(of: $0) }
            ),
            zoneName: entry.zoneName,
            event: ExplainedChange.Event(entry.event, asked: query),
            committedAt: entry.committedAt,
            originUserName: try entry.originUser.flatMap { try name(of: $0) },
            originClient: entry.originClient,
            isNotified: change.isNotified
        )
        try addSubscriptions(to: &explained, change, in: database)
        try addParticipants(to: &explained, change, in: database)
        let isAboutSubscription = query.subscriptionID != nil || query.notificationID != nil
        guard
            !isAboutSubscription || !explained.subscriptions.isEmpty
                || !explained.participants.isEmpty
        else { return nil }
        return explained
    }

    private mutating func database(_ id: DatabaseID) throws -> StoredDatabase? {
        if let known = databases[id] { return known }
        let database = try reader.database(id: id)
        databases[id] = database
        return database
    }

    /// The account name of a user; nil when the account was removed.
    mutating func name(of user: UserID) throws -> String? {
        if let known = names[user] { return known }
        guard let account = try reader.users([user])[user]?.account else { return nil }
        let name = try reader.accountNames([account])[account]
        names[user] = name
        return name
    }
}

extension PushExplanation {
    /// Explains what a query asks for.
    package static func explain(
        _ query: Query, in reader: any PushExplaining
    ) throws -> PushExplanation {
        var explainer = try PushExplainer(query, reader)
        var explanation = PushExplanation()
        if query.userName == nil || explainer.account != nil {
            explanation.changes = try explainer.changes()
        }
        if explanation.changes.isEmpty { explanation.hints = try explainer.hints() }
        return explanation
    }
}

extension KeptChangeQuery {
    /// Calls `body` with what is asked for, newest first and page by page, until it returns false.
    ///
    /// - Parameter limit: How many are looked at.
    func forEach(
        in reader: any PushExplaining, upTo limit: Int, _ body: (KeptChange) throws -> Bool
    ) throws {
        var rest = self
        for _ in 0..<(limit / PushExplainer.changesPerPage) {
            let page = try reader.keptChanges(rest, limit: PushExplainer.changesPerPage)
            for change in page where try !body(change) { return }
            guard let last = page.last, page.count == PushExplainer.changesPerPage else { return }
            rest.after = last.cursor
        }
    }

    fileprivate init(_ query: PushExplanation.Query, _ account: AccountID?) {
        self.init()
        container = query.container
        environment = query.environment
        scope = query.scope
        self.account = account
        zoneName = query.zoneName
        recordName = query.recordName
    }
}

extension PushExplanation.Query {
    /// Whether a record's change is asked for.
    func concerns(_ change: RecordChange) -> Bool {
        (recordName == nil || recordName == change.recordName)
            && (recordType == nil || recordType == change.recordType)
    }

    /// Whether the entry has what is asked for.
    fileprivate func concerns(_ entry: OutboxEntry) -> Bool {
        guard recordName != nil || recordType != nil else { return true }
        guard case .records(let changes) = entry.event else { return false }
        return changes.contains(where: concerns)
    }
}

extension ExplainedChange.Event {
    fileprivate init(_ event: OutboxEntry.Event, asked query: PushExplanation.Query) {
        switch event {
        case .records(let changes):
            let shown = changes.lazy.filter(query.concerns).prefix(PushExplainer.records)
            self = .records(
                shown.map {
                    ExplainedChange.Record(
                        name: $0.recordName, type: $0.recordType, event: $0.event
                    )
                },
                count: changes.count
            )
        case .zoneCreated: self = .zoneCreated
        case .zoneDeleted(let reason, _): self = .zoneDeleted(reason)
        }
    }
}
