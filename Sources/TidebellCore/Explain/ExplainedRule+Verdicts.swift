// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// A verdict in words.
struct ExplainedVerdict {
    /// Nil where it depends on what was not kept.
    var fires: Bool?
    var rule: ExplainedRule
}

extension WireSubscription {
    /// Returns what the rules decide about a change, for the records asked for.
    ///
    /// - Parameter searched: The fields of its record type that a search of all text looks at; nil
    ///   for all of them.
    func explainedVerdict(
        on entry: OutboxEntry, asked query: PushExplanation.Query, searching searched: Set<String>?
    ) -> ExplainedVerdict {
        guard entry.damage == nil else { return explainedUnreadable(inZone: entry.zoneName) }
        switch entry.event {
        case .records(let changes):
            let asked = changes.filter(query.concerns)
            let verdicts = asked.map { change in
                var view = RecordView(change)
                view.searched = searched
                return (change, verdict(on: change, showing: view, inZone: entry.zoneName))
            }
            if let (change, _) = verdicts.first(where: { $1 == .fires }) {
                return ExplainedVerdict(fires: true, rule: ruleOfFiring(on: change))
            }
            guard let (change, verdict) = verdicts.first,
                case .doesNotFire(let reason) = verdict
            else {
                return ExplainedVerdict(
                    fires: false, rule: ExplainedRule("no record it asks for changed")
                )
            }
            return ExplainedVerdict(
                fires: change.isShortened && reason.isFilter ? nil : false,
                rule: .against(reason, change)
            )
        case .zoneCreated: return explained(onZone: entry.zoneName, isCreated: true)
        case .zoneDeleted: return explained(onZone: entry.zoneName, isCreated: false)
        }
    }

    /// Returns the rule by which a change whose fields were not kept has fired.
    func ruleOfMatch(in entry: OutboxEntry, asked query: PushExplanation.Query) -> ExplainedRule {
        let event = entry.changes.first(where: query.concerns)?.event ?? .updated
        return ExplainedRule("the record was \(event.verb) and matched", "SUB-24")
    }

    private func explained(onZone zone: String, isCreated: Bool) -> ExplainedVerdict {
        switch verdict(onZone: zone, isCreated: isCreated) {
        case .fires:
            let rule =
                kind == .zone
                ? ExplainedRule("the end of its zone is the last it reports", "SUB-65")
                : ExplainedRule("zones that come and go fire it", "SUB-54")
            return ExplainedVerdict(fires: true, rule: rule)
        case .doesNotFire(let reason):
            return ExplainedVerdict(fires: false, rule: .against(reason, nil))
        }
    }

    private func explainedUnreadable(inZone zone: String) -> ExplainedVerdict {
        switch verdict(onUnreadableChangeIn: zone) {
        case .fires:
            ExplainedVerdict(
                fires: true,
                rule: ExplainedRule(
                    "what the change was cannot be read any more, so that devices fetch"))
        case .doesNotFire(let reason):
            ExplainedVerdict(fires: false, rule: .against(reason, nil))
        }
    }

    private func ruleOfFiring(on change: RecordChange) -> ExplainedRule {
        switch kind {
        case .query:
            ExplainedRule(
                "the record was \(change.event.verb) and matches",
                change.event == .updated ? "SUB-24" : "SUB-23"
            )
        case _ where recordType != nil:
            ExplainedRule("every change of a \(change.recordType) fires it", "SUB-13")
        case .zone: ExplainedRule("every change of a record in the zone fires it", "SUB-53")
        case .database: ExplainedRule("every change in a custom zone fires it", "SUB-54")
        }
    }
}

extension ExplainedRule {
    /// The rule about a subscription that is not there any more.
    static func gone(isUsedUp: Bool) -> ExplainedRule {
        isUsedUp
            ? ExplainedRule("it fired once, and was deleted with that", "SUB-19")
            : ExplainedRule("it fired, and was deleted since")
    }

    /// The rule about a subscription that cannot be read any more.
    static let damaged = ExplainedRule(
        "it is damaged on the server's disk and fires no more until it is saved anew")

    /// The rule by which a change leaves a subscription alone.
    static func against(
        _ reason: SubscriptionVerdict.Reason, _ change: RecordChange?
    ) -> ExplainedRule {
        switch reason {
        case .defaultZone:
            ExplainedRule(
                "the default zone never fires zone and database subscriptions", "SUB-7"
            )
        case .otherZone(let zone):
            ExplainedRule("it watches the zone \(zone)", "SUB-9")
        case .otherRecordType(let type):
            ExplainedRule(
                "the record is a \(change?.recordType ?? "record of another type"), "
                    + "it watches \(type)", "SUB-13"
            )
        case .eventNotAsked(let event):
            ExplainedRule("it does not fire on records being \(event.verb)", "SUB-17")
        case .filter where change?.isShortened == true:
            ExplainedRule("the record's fields were too large to be kept for an explanation")
        case .filter where change?.fields == nil:
            ExplainedRule(
                "there was no query subscription when the change was made, so its fields "
                    + "were not kept for explanations", "SUB-40"
            )
        case .filter(let filter, let found):
            ExplainedRule("it asks for \(filter.summary), \(filter.text(found: found))", "SUB-24")
        case .recordsOnly:
            ExplainedRule("it reports records, not the zone itself", "SUB-23")
        case .unreadableChange:
            ExplainedRule("it reports records, and what changed cannot be read any more")
        case .zoneCreated:
            ExplainedRule("it does not report zones that begin", "SUB-53")
        }
    }
}

extension SubscriptionVerdict.Reason {
    fileprivate var isFilter: Bool {
        if case .filter = self { true } else { false }
    }
}

extension RecordChange {
    /// Whether its fields were dropped for their size when it was notified.
    fileprivate var isShortened: Bool { fields == nil && system != nil }
}

extension WireFilter {
    /// What the record has where the filter looks.
    fileprivate func text(found: FieldValue?) -> String {
        if let found { return "and the record has \(found.summary)" }
        return subject == .allText
            ? "which no text of the record has"
            : "and the record has no readable \(subject.summary)"
    }
}

extension RecordEvent {
    /// What was done to the record.
    var verb: String {
        switch self {
        case .created: "created"
        case .updated: "updated"
        case .deleted: "deleted"
        }
    }
}

extension WireSubscription {
    /// What it watches, in words.
    var summary: String {
        var words: [String]
        switch kind {
        case .database: words = ["database"]
        case .zone: words = ["zone \(zoneID?.zoneName ?? "")"]
        case .query:
            words = ["query \(recordType ?? "")"]
            if let zoneID { words.append("in zone \(zoneID.zoneName)") }
        }
        if kind != .query, let recordType { words.append("of type \(recordType)") }
        if !filters.isEmpty {
            words.append("where " + filters.map(\.summary).joined(separator: " and "))
        }
        if kind == .query {
            let all: [(Events, String)] = [
                (.create, "create"), (.update, "update"), (.delete, "delete"),
            ]
            let events = all.filter { firesOn.contains($0.0) }.map(\.1)
            if events.count < all.count { words.append("on " + events.joined(separator: ", ")) }
            if firesOnce { words.append("once") }
        }
        return words.joined(separator: " ")
    }
}
