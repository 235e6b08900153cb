// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension Model {
    /// Saves a subscription.
    mutating func subscribe(
        _ trigger: Trigger, _ style: Style, id: String, in scope: DatabaseScope, by writer: Writer
    ) -> Answer {
        let name = SubscriptionName(user: writer.user, scope: scope, id: id)
        if let zone = trigger.zone, !zones[writer.user, default: []].contains(zone) {
            return .items([.failed(.zoneNotFound)])
        }
        // Its kind never changes (SUB-70).
        if let before = subscriptions[name], before.trigger.kind != trigger.kind {
            return .items([.failed(.badRequest)])
        }
        let hasTwin = subscriptions.values.contains { other in
            other.name.user == name.user && other.name.scope == scope
                && other.name.id != id && trigger.kind != .database && other.trigger == trigger
        }
        // CloudKit's code of a duplicate has no name of its own on the wire.
        if hasTwin { return .items([.failed(.badRequest)]) }
        if subscriptions[name]?.trigger != trigger || subscriptions[name]?.style != style {
            subscriptions[name] = Subscription(
                name: name, trigger: trigger, style: style, version: nextSubscriptionVersion()
            )
        }
        return .items([.saved])
    }

    /// Deletes a subscription.
    mutating func unsubscribe(
        id: String, in scope: DatabaseScope, by writer: Writer
    ) -> Answer {
        let name = SubscriptionName(user: writer.user, scope: scope, id: id)
        let isKnown = subscriptions.removeValue(forKey: name) != nil
        return .items([isKnown ? .deleted : .failed(.notFound)])
    }
}

extension Subscription {
    /// What replaces a notification of the subscription (PUSH-2): equal IDs do.
    func collapseID(of fact: Fact?) -> CollapseID? {
        if let fact { return style.collapses ? .chosen("group-\(fact.group)") : nil }
        return style.showsSomething ? nil : .background
    }

    /// The parts of a change that fire the subscription: one for each record of
    /// a query, at most one nil for the other kinds.
    func facts(in change: Change) -> [Fact?] {
        guard change.home.owner == (name.scope == .public ? nil : name.user) else { return [] }
        let isDefault = change.home.zone == ZoneID.defaultName
        switch trigger.kind {
        case .query:
            guard case .records(let facts) = change.event,
                trigger.zone == nil || trigger.zone == change.home.zone
            else { return [] }
            return facts.filter { isOfType($0) && firesOn($0) && passes($0) }
        case .zone:
            // Its own end comes with the deletion itself.
            guard !isDefault, trigger.zone == change.home.zone,
                case .records(let facts) = change.event, facts.contains(where: isOfType)
            else { return [] }
            return [nil]
        case .database:
            if case .records(let facts) = change.event, !facts.contains(where: isOfType) {
                return []
            }
            return isDefault ? [] : [nil]
        }
    }

    /// Whether the subscription is notified of the end of its zone, and with it of its
    /// own: only a zone subscription on all types.
    var isNotifiedOfItsEnd: Bool { trigger.kind == .zone && trigger.type == nil }

    private func isOfType(_ fact: Fact) -> Bool {
        trigger.type == nil || trigger.type == Names.type(of: fact.name)
    }

    private func passes(_ fact: Fact) -> Bool {
        trigger.filter?.passes(fact.group) ?? true
    }

    private func firesOn(_ fact: Fact) -> Bool {
        switch fact.event {
        case .created: trigger.firesOn.contains(.create)
        case .updated: trigger.firesOn.contains(.update)
        case .deleted: trigger.firesOn.contains(.delete)
        }
    }
}

extension Filter {
    /// Whether a record of a group passes.
    func passes(_ group: Int) -> Bool {
        switch self {
        case .equals(let wanted): group == wanted
        case .notEquals(let other): group != other
        case .atLeast(let least): group >= least
        case .among(let one, let other): group == one || group == other
        }
    }
}
