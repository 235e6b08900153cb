// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// What becomes of one item of a request.
enum Verdict: Hashable {
    case saved, deleted
    case failed(ServerErrorCode)
}

/// The answer to a request.
enum Answer: Hashable {
    case refused(ServerErrorCode)
    case items([Verdict])
}

extension Model {
    /// Saves and deletes records of one zone.
    mutating func modify(
        _ edits: [Edit], in site: Site, by writer: Writer, isAtomic: Bool
    ) -> Answer {
        let home = Home(site, of: writer.user)
        let isDefault = site.zone == ZoneID.defaultName
        guard isDefault || zones[writer.user, default: []].contains(site.zone) else {
            return .refused(.zoneNotFound)
        }
        let old = records[home] ?? [:]
        let verdicts = edits.map { verdict($0, over: old[$0.name], in: site, by: writer) }
        if isAtomic, verdicts.contains(where: \.isFailure) {
            return .items(verdicts.map { $0.isFailure ? $0 : .failed(.atomicError) })
        }
        var new = old
        var facts: [Fact] = []
        for (edit, verdict) in zip(edits, verdicts) where !verdict.isFailure {
            if let fact = apply(edit, to: &new, by: writer.user, rank: facts.count) {
                facts.append(fact)
            }
        }
        facts += cascade(from: facts, over: old, in: &new)
        records[home] = new
        if !facts.isEmpty { commit(.records(facts), in: home, by: writer) }
        return .items(verdicts)
    }

    private func verdict(
        _ edit: Edit, over old: Record?, in site: Site, by writer: Writer
    ) -> Verdict {
        if edit.isFileGone { return .failed(.badRequest) }
        if let old {
            if edit.kind == .insert { return .failed(.exists) }
            if edit.kind == .update, edit.known?.version != old.version {
                return .failed(.conflict)
            }
            // In the public database only the creator writes.
            if site.scope == .public, old.creator != writer.user { return .failed(.accessDenied) }
        } else if edit.kind == .update {
            return .failed(.notFound)
        }
        return edit.kind == .remove ? .deleted : .saved
    }

    private mutating func apply(
        _ edit: Edit, to records: inout [String: Record], by user: Int, rank: Int
    ) -> Fact? {
        let old = records[edit.name]
        if edit.kind == .remove {
            records[edit.name] = nil
            return old.map {
                Fact(
                    name: edit.name, event: .deleted, version: $0.version, group: $0.group,
                    rank: rank
                )
            }
        }
        let record = Record(
            version: nextRecordVersion(), group: edit.group, owner: edit.owner,
            creator: old?.creator ?? user, file: edit.file
        )
        records[edit.name] = record
        return Fact(
            name: edit.name, event: old == nil ? .created : .updated, version: record.version,
            group: edit.group, rank: rank
        )
    }

    /// Takes along what deleted records own, as it stood before the batch; what
    /// the batch saves stays.
    private func cascade(
        from facts: [Fact], over old: [String: Record], in new: inout [String: Record]
    ) -> [Fact] {
        let touched = Set(facts.map(\.name))
        var gone = Set(facts.filter { $0.event == .deleted }.map(\.name))
        var more: [Fact] = []
        while true {
            let next = old.filter { name, record in
                !touched.contains(name) && !gone.contains(name)
                    && record.owner.map(gone.contains) == true
            }
            if next.isEmpty { return more }
            for (name, record) in next {
                gone.insert(name)
                new[name] = nil
                more.append(
                    Fact(
                        name: name, event: .deleted, version: record.version,
                        group: record.group, rank: facts.count
                    )
                )
            }
        }
    }

    /// Creates custom zones; those that exist stay as they are.
    mutating func createZones(_ names: [String], by writer: Writer) -> Answer {
        for name in names where zones[writer.user, default: []].insert(name).inserted {
            commit(.zoneCreated, in: Home(owner: writer.user, zone: name), by: writer)
        }
        return .items(names.map { _ in .saved })
    }

    /// Deletes custom zones with their records and the subscriptions on them.
    mutating func deleteZones(_ names: [String], by writer: Writer) -> Answer {
        let user = writer.user
        return .items(
            names.map { name in
                guard zones[user, default: []].remove(name) != nil else {
                    return .failed(.zoneNotFound)
                }
                let home = Home(owner: user, zone: name)
                records[home] = nil
                let ended = subscriptions.values.filter {
                    $0.name.user == user && $0.name.scope == .private && $0.trigger.zone == name
                }
                for subscription in ended { subscriptions[subscription.name] = nil }
                commit(.zoneDeleted(ended: ended), in: home, by: writer)
                return .deleted
            }
        )
    }

    private mutating func commit(_ event: Change.Event, in home: Home, by writer: Writer) {
        var change = Change(home: home, event: event, origin: writer.client)
        for subscription in subscriptions.values where !subscription.facts(in: change).isEmpty {
            change.due[subscription.name] = subscription.version
        }
        if case .zoneDeleted(let ended) = event {
            for subscription in ended where subscription.isNotifiedOfItsEnd {
                change.due[subscription.name] = subscription.version
            }
        }
        pending.append(change)
    }
}

extension Verdict {
    var isFailure: Bool {
        if case .failed = self { true } else { false }
    }
}
