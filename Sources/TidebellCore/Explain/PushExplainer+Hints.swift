// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension PushExplainer {
    /// Containers and names listed in a hint.
    private static let listed = 10
    /// Databases searched for a record.
    static let databasesSearched = 100

    /// Explains why nothing was found, and how to ask instead.
    mutating func hints() throws -> [String] {
        let containers = try reader.containers(limit: Self.listed)
        guard !containers.isEmpty else {
            return ["Nothing was ever saved in this cloud."]
        }
        if let name = query.userName, account == nil {
            let names = try reader.accountNames()
            return ["There is no user '\(name)'. There are: \(Self.list(names))."]
        }
        let asked = containers.filter {
            (query.container == nil || query.container == $0.container)
                && (query.environment == nil || query.environment == $0.environment)
        }
        guard !asked.isEmpty else {
            let all = containers.map { "\($0.container) (\($0.environment.rawValue))" }
            return ["No such container and environment was used. There are: \(Self.list(all))."]
        }
        if let id = query.notificationID {
            return ["No kept change was reported by a notification '\(id)'.", try retention()]
        }
        if let id = query.subscriptionID {
            return try hints(aboutSubscription: id, in: asked)
        }
        guard let name = query.recordName else {
            return ["There is no such change.", try retention()]
        }
        return try hints(aboutRecord: name, in: asked)
    }

    private mutating func hints(
        aboutSubscription id: String, in containers: [ContainerKey]
    ) throws -> [String] {
        var found: [String] = []
        for database in try databases(in: containers) {
            for user in try subscribers(in: database) {
                let known = try reader.subscriptions(nil, of: user, in: database.id)
                let name = try name(of: user) ?? "a removed user"
                if let stored = known.first(where: { $0.subscription.exactID == ExactText(id) }) {
                    return [
                        "\(name) has the subscription '\(id)' (\(stored.subscription.summary)), "
                            + "but no such change came since.",
                        try retention(),
                    ]
                }
                let others = try reader.subscriptionIDs(of: user, in: database.id)
                if others.contains(ExactText(id)) {
                    return [
                        "\(name) has the subscription '\(id)', which is damaged on the server's "
                            + "disk and fires no more until it is saved anew."
                    ]
                }
                found += others.map { "\($0.text) of \(name)" }
            }
        }
        guard !found.isEmpty else { return ["There are no subscriptions here."] }
        return ["There is no subscription '\(id)'. There are: \(Self.list(found))."]
    }

    private func subscribers(in database: StoredDatabase) throws -> [UserID] {
        if let account {
            return try reader.user(of: account, in: database.key.container).map { [$0.id] } ?? []
        }
        return try reader.subscribers(in: database.id, limit: Self.listed)
    }

    private mutating func hints(
        aboutRecord name: String, in containers: [ContainerKey]
    ) throws -> [String] {
        for database in try databases(in: containers) {
            for zone in try reader.zones(query.zoneName.map { [$0] }, in: database.id)
            where zone.deletion == nil {
                guard let record = try reader.records([name], in: zone.key)[name] else { continue }
                let changed = Instant(rawValue: record.modified.timestamp)
                let owner = try database.key.owner.flatMap { try self.name(of: $0) }
                let location = ExplainedDatabase(
                    container: database.key.container, scope: database.key.scope, ownerName: owner
                )
                return [
                    "The record \(name) (\(record.type)) is in zone \(zone.name), "
                        + "\(location.text), last changed \(changed.text), but no change of it is "
                        + "kept.",
                    try reasonForNoChange(at: changed, in: zone, of: database),
                ]
            }
        }
        return [
            "No change of a record '\(name)' is kept, and no such record exists.", try retention(),
        ]
    }

    private func reasonForNoChange(
        at changed: Instant, in zone: StoredZone, of database: StoredDatabase
    ) throws -> String {
        if database.subscriptionKinds.isEmpty {
            return "There are no subscriptions in that database, so its changes send no pushes "
                + "(SUB-40)."
        }
        if zone.name == ZoneID.defaultName, !database.subscriptionKinds.contains(.query) {
            return "In the default zone only query subscriptions fire, and there are none in that "
                + "database (SUB-7)."
        }
        guard let oldest = try reader.oldestKeptChange(), changed >= oldest else {
            return try retention()
        }
        return "When it was made, there were no subscriptions in that database: a change before "
            + "the first subscription sends no pushes (SUB-40)."
    }

    /// The databases that a query without kept changes may mean.
    private func databases(in containers: [ContainerKey]) throws -> [StoredDatabase] {
        var accounts: [AccountID] = []
        if let account {
            accounts = [account]
        } else {
            accounts = try reader.accounts().prefix(Self.databasesSearched).map(\.account)
        }
        var keys: [DatabaseKey] = []
        for container in containers {
            keys.append(DatabaseKey(container: container, scope: .public, owner: nil))
            for account in accounts {
                guard let user = try reader.user(of: account, in: container) else { continue }
                keys.append(DatabaseKey(container: container, scope: .private, owner: user.id))
                keys.append(DatabaseKey(container: container, scope: .shared, owner: user.id))
            }
        }
        return try keys.lazy.filter { [query] in query.scope == nil || $0.scope == query.scope }
            .prefix(Self.databasesSearched).compactMap { try reader.database($0) }
    }

    private func retention() throws -> String {
        guard let oldest = try reader.oldestKeptChange() else {
            return "No changes are kept. Changes are kept for a day, unless `tidebell serve` was "
                + "configured otherwise, and only in databases with subscriptions."
        }
        return "Kept changes go back to \(oldest.text)."
    }

    private static func list(_ names: [String]) -> String {
        guard !names.isEmpty else { return "none" }
        let more = names.count > listed ? ["…"] : []
        return (names.prefix(listed) + more).joined(separator: ", ")
    }
}
