// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension PushExplainer {
    /// Adds what the change meant to each subscription that is asked for.
    mutating func addSubscriptions(
        to explained: inout ExplainedChange, _ change: KeptChange, in database: StoredDatabase
    ) throws {
        var users = try subscribers(of: change, in: database)
        if users.count > Self.subscribers {
            users = Array(users.prefix(Self.subscribers))
            explained.hasMoreSubscriptions = true
        }
        var subscriptions: [ExplainedSubscription] = []
        for user in users {
            subscriptions += try self.subscriptions(of: user, change, in: database)
        }
        if subscriptions.count > Self.subscriptions {
            explained.hasMoreSubscriptions = true
        }
        let fired = subscriptions.filter(\.hasFired)
        let others = subscriptions.filter { !$0.hasFired }
        explained.subscriptions = Array((fired + others).prefix(Self.subscriptions))
    }

    /// The users whom a change may concern, those who were notified
    /// first.
    private func subscribers(
        of change: KeptChange, in database: StoredDatabase
    ) throws -> [UserID] {
        if let account {
            return try reader.user(of: account, in: database.key.container).map { [$0.id] } ?? []
        }
        if let owner = database.key.owner { return [owner] }
        let notified = try reader.notifiedMatches(of: change.entry.id, to: nil, limit: Self.matches)
        let others = try reader.subscribers(in: database.id, limit: Self.subscribers + 1)
        var seen: Set<UserID> = []
        return (notified.map(\.user) + others).filter { seen.insert($0).inserted }
    }

    private mutating func subscriptions(
        of user: UserID, _ change: KeptChange, in database: StoredDatabase
    ) throws -> [ExplainedSubscription] {
        let entry = change.entry
        let notified = try reader.notifiedMatches(of: entry.id, to: user, limit: Self.matches)
            .filter { isAsked($0) }
        let matches = Dictionary(grouping: notified, by: { ExactText($0.subscriptionID) })
        var known: [ExactText: WireSubscription] = [:]
        for ended in entry.endedSubscriptions where ended.user == user {
            known[ended.subscription.exactID] = ended.subscription
        }
        for stored in try reader.subscriptions(nil, of: user, in: database.id) {
            known[stored.subscription.exactID] = stored.subscription
        }
        let damaged = Set(try reader.subscriptionIDs(of: user, in: database.id))
            .subtracting(known.keys)
        var ids = Set(known.keys).union(matches.keys).union(damaged)
        if let asked = query.subscriptionID { ids.formIntersection([ExactText(asked)]) }
        // The notification asked for reports these alone.
        if query.notificationID != nil { ids.formIntersection(matches.keys) }
        return try ids.sorted { $0.text < $1.text }.map { id in
            var part = try explained(
                id.text, known[id], matches[id] ?? [], of: user, change, in: database)
            if damaged.contains(id) { part.rule = .damaged }
            return part
        }
    }

    /// Whether a match is of the record or notification that is asked for.
    private func isAsked(_ match: NotifiedMatch) -> Bool {
        if let asked = query.notificationID, asked != match.notificationID { return false }
        guard let record = match.recordName, let asked = query.recordName else { return true }
        return record == asked
    }

    private mutating func explained(
        _ id: String, _ subscription: WireSubscription?, _ matches: [NotifiedMatch],
        of user: UserID, _ change: KeptChange, in database: StoredDatabase
    ) throws -> ExplainedSubscription {
        var verdict = try subscription.map {
            $0.explainedVerdict(
                on: change.entry, asked: query, searching: try searchedFields(by: $0, in: database))
        }
        if matches.isEmpty, verdict?.fires != false,
            let silenced = try subscription.flatMap({ try silence($0, of: user, in: database) })
        {
            verdict = ExplainedVerdict(fires: false, rule: silenced)
        }
        var explained = ExplainedSubscription(
            userName: try name(of: user), subscriptionID: id, summary: subscription?.summary,
            warning: subscription.flatMap { subscription in
                AppleRules.breach(by: subscription)?.warning
                    ?? subscription.warningOfLeftOut(in: change.entry, asked: query)
            },
            unindexed: subscription?.noteOfFallBack,
            rule: verdict?.rule ?? .gone(isUsedUp: matches.contains(where: \.isLast)),
            outcome: .doesNotFire
        )
        if !matches.isEmpty {
            if let subscription, verdict?.fires == nil {
                explained.rule = subscription.ruleOfMatch(in: change.entry, asked: query)
            } else if verdict?.fires == false {
                explained.rule = ExplainedRule(
                    "it fired, and was saved anew with another trigger since", "SUB-30"
                )
            }
            explained.outcome = .notified(
                try matches.prefix(Self.notifications).map {
                    try notification($0, change, in: database)
                }
            )
        } else if verdict?.fires == true {
            explained.outcome = change.isNotified ? .missed : .waiting
            if change.isNotified {
                explained.rule = try ruleOfMissed(subscription, of: user, change.entry)
            }
        }
        return explained
    }

    /// The fields that a search of all text looks at; nil for all, and where it searches none.
    private func searchedFields(
        by subscription: WireSubscription, in database: StoredDatabase
    ) throws -> Set<String>? {
        guard let name = subscription.recordType,
            subscription.filters.contains(where: { $0.subject == .allText })
        else { return nil }
        return try reader.recordTypes(
            [name], in: database.key.container, inDatabaseOf: database.key.owner)[name]?
            .searchedFields
    }

    /// Why a subscription fires nothing as long as its type's schema is what it is; nil where it
    /// does.
    private func silence(
        _ subscription: WireSubscription, of user: UserID, in database: StoredDatabase
    ) throws -> ExplainedRule? {
        guard subscription.kind == .query, let name = subscription.recordType else { return nil }
        let container = database.key.container
        let types = try reader.recordTypes(
            [name], in: container, inDatabaseOf: database.key.owner)
        guard let type = types[name] else { return nil }
        if let missing = type.indexSilencing(subscription) {
            return ExplainedRule(
                "it is silent: \(missing.words); \(missing.advice(for: name, in: container))",
                "SUB-26")
        }
        guard database.key.scope == .public, type.grants.mayHide else { return nil }
        let roles = try reader.roles(of: user).union([RecordGrants.world, RecordGrants.icloud])
        guard !type.grants.rights(of: roles).contains(.read) else { return nil }
        return ExplainedRule(
            "it is silent: the record type '\(name)' grants READ to "
                + type.grants.holders(of: .read), "ACCT-7")
    }

    /// Why a subscription that fires was not notified of a change that was.
    private func ruleOfMissed(
        _ subscription: WireSubscription?, of user: UserID, _ entry: OutboxEntry
    ) throws -> ExplainedRule {
        if try reader.reachableUsers(among: [user]).isEmpty {
            return ExplainedRule(
                "it fires, but notifications are made only for users of enabled accounts who have "
                    + "a device, or whose container has a webhook", "PUSH-9"
            )
        }
        if subscription?.firesOnce == true {
            let others = try reader.devices(of: user).filter { $0.clientID != entry.originClient }
            if others.isEmpty {
                return ExplainedRule(
                    "it fires once, and no device but the one that made the change is "
                        + "registered, so its one push waits for another change", "SUB-20"
                )
            }
        }
        return ExplainedRule(
            "it fires on such changes, but was saved or changed after this one was notified",
            "SUB-40"
        )
    }

    // MARK: Notifications

    private func notification(
        _ match: NotifiedMatch, _ change: KeptChange, in database: StoredDatabase
    ) throws -> ExplainedNotification {
        let entry = change.entry
        let deliveries = try reader.deliveries(
            of: match.sequence, to: match.user, limit: Self.attempts
        )
        let devices = try reader.registeredDevices(of: match.user)
        let known = Set(devices.map(\.device.clientID))
        return ExplainedNotification(
            notificationID: match.notificationID,
            recordName: match.recordName,
            isBackground: match.isBackground,
            payloadSize: match.payloadSize,
            pruned: match.pruned,
            isMerged: match.isMerged,
            replacedBy: try reader.replacement(
                of: match, in: database.id, origin: entry.originClient
            ),
            isLast: match.isLast,
            devices: devices.map { device in
                ExplainedDevice(
                    device, deliveries.filter { $0.clientID == device.device.clientID },
                    of: match, entry
                )
            },
            otherAttempts: deliveries.filter { delivery in
                delivery.clientID.map { !known.contains($0) } ?? true
            }
        )
    }
}

extension ExplainedDevice {
    fileprivate init(
        _ registered: RegisteredDevice, _ attempts: [Delivery], of match: NotifiedMatch,
        _ entry: OutboxEntry
    ) {
        let device = registered.device
        clientID = device.clientID
        if device.clientID == entry.originClient {
            state = .origin
            // What it acknowledged covers its own change without reporting it.
            self.attempts = attempts.filter { $0.answer != Delivery.acknowledged }
            return
        }
        self.attempts = attempts
        if registered.registeredAt > entry.committedAt, attempts.isEmpty {
            state = .registeredLater(registered.registeredAt)
        } else if !attempts.isEmpty {
            state = .tried
        } else {
            state = device.acknowledged >= match.sequence ? .acknowledged : .waiting
        }
    }
}

extension WireSubscription {
    /// That every change of the record type is held against it, and why.
    fileprivate var noteOfFallBack: String? {
        guard kind == .query, let recordType,
            let reason = SubscriptionTerms(of: filters).reasonAgainst
        else { return nil }
        return
            "no index finds it, so every change of a '\(WireError.shortened(recordType))' is held "
            + "against it: \(reason)"
    }

    /// Which of the desired keys no push carries, because of what the records have there: when the
    /// subscription was saved, no record had the field yet (NINFO-16, NINFO-20). Nil where there is none.
    fileprivate func warningOfLeftOut(
        in entry: OutboxEntry, asked: PushExplanation.Query
    ) -> String? {
        guard kind == .query, let keys = notificationInfo?.desiredKeys,
            case .records(let changes) = entry.event
        else { return nil }
        for change in changes
        where change.recordType == recordType
            && (asked.recordName ?? change.recordName) == change.recordName
        {
            // What cannot be read is in no push either, and is another matter.
            guard let fields = try? change.fields?.decoded() else { continue }
            for key in keys {
                guard let field = fields[key], let type = field.value.type else { continue }
                let why =
                    if field.isEncrypted {
                        "encrypted"
                    } else if NotificationInfoRules.desired.contains(type) {
                        ""
                    } else {
                        "of type \(type.rawValue)"
                    }
                guard !why.isEmpty else { continue }
                return
                    "no push carries the desired key '\(WireError.shortened(key))', which is \(why) in the "
                    + "record '\(WireError.shortened(change.recordName))' (NINFO-16, NINFO-20)"
            }
        }
        return nil
    }
}

extension ExplainedSubscription {
    fileprivate var hasFired: Bool {
        switch outcome {
        case .notified, .waiting: true
        case .doesNotFire, .missed: false
        }
    }
}
