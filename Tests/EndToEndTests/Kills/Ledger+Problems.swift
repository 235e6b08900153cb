// SPDX-License-Identifier: Apache-2.0

/// What is wrong with what others have, as sentences: none where it is what the ledger has.
extension Ledger.Contents {
    /// Compares the records of a device that fetched.
    func problems(inRecords found: [String: Ledger.Entry], of device: String) -> [String] {
        let wrong = entries.filter { found[$0.key] != $0.value }.map { name, entry in
            "\(device): \(name) is \(found[name].map { "\($0)" } ?? "lost"), not \(entry)"
        }
        let surplus = found.keys.filter { entries[$0] == nil }.map { name in
            let why =
                refused.contains(name)
                ? "is of a batch that failed"
                : deleted.contains(name) ? "was deleted" : "was done twice"
            return "\(device): \(name) \(why)"
        }
        return wrong.sorted() + surplus.sorted()
    }

    /// Compares the pushes of a device; one that came again has the notification ID it had.
    func problems(
        inPushes received: [Ledger.Change: ReceivedPushes.ReceivedChange], of device: String
    ) -> [String] {
        var problems: [String] = []
        for (change, number) in changes {
            guard let push = received[change] else {
                problems.append("\(device) was not notified of \(change.text)")
                continue
            }
            if push.ids.count != 1 {
                problems.append("\(device): \(change.text) has \(push.ids.count) IDs")
            }
            if push.numbers != [number] {
                problems.append(
                    "\(device): \(change.text) has \(push.numbers.sorted()), not \(number)")
            }
            if change.event == .deleted {
                for event in [Ledger.Change.Event.created, .updated] {
                    let earlier = Ledger.Change(name: change.name, event: event)
                    if let first = received[earlier], first.position > push.position {
                        problems.append("\(device): \(change.text) came before \(earlier.text)")
                    }
                }
            }
        }
        problems += unordered(received, device) + shared(received, device)
        problems += made(up: received.keys, device)
        return problems.sorted()
    }

    /// The changes of which a device was notified after a later one: the first push of each comes in the order of
    /// the commits (PUSH-13).
    private func unordered(
        _ received: [Ledger.Change: ReceivedPushes.ReceivedChange], _ device: String
    ) -> [String] {
        let ordered = received.sorted { $0.value.position < $1.value.position }.map(\.key)
        var newest: Ledger.Change?
        return ordered.compactMap { change in
            guard let position = positions[change] else { return nil }
            guard let before = newest, position < positions[before] ?? 0 else {
                newest = change
                return nil
            }
            return "\(device): \(change.text) came after \(before.text)"
        }
    }

    /// The changes of which a device was notified under one ID.
    private func shared(
        _ received: [Ledger.Change: ReceivedPushes.ReceivedChange], _ device: String
    ) -> [String] {
        let changes = received.flatMap { change, push in push.ids.map { ($0, change.text) } }
        return Dictionary(grouping: changes, by: \.0).filter { $0.value.count > 1 }.map {
            "\(device): \($0.value.map(\.1).sorted()) have one ID"
        }
    }

    /// Compares what a webhook's receiver got with the pushes of a device: both are notified by
    /// the same.
    func problems(
        inMessages received: [Ledger.Change: Set<String>],
        besidePushes pushes: [Ledger.Change: ReceivedPushes.ReceivedChange]
    ) -> [String] {
        var problems: [String] = []
        for change in changes.keys {
            guard let ids = received[change] else {
                problems.append("the webhook got nothing of \(change.text)")
                continue
            }
            if ids != pushes[change]?.ids {
                problems.append("the webhook got \(change.text) by other pushes")
            }
        }
        problems += made(up: received.keys, "the webhook")
        return problems.sorted()
    }

    /// Compares the pushes of two devices.
    func problems(
        inPushes received: [Ledger.Change: ReceivedPushes.ReceivedChange],
        besidePushes others: [Ledger.Change: ReceivedPushes.ReceivedChange], of device: String
    ) -> [String] {
        changes.keys.filter { received[$0]?.ids != others[$0]?.ids }.map {
            "\(device) was notified of \($0.text) by another push than others"
        }.sorted()
    }

    private func made(up received: some Sequence<Ledger.Change>, _ device: String) -> [String] {
        received.filter { changes[$0] == nil }.map {
            "\(device) was notified of \($0.text), which did not happen"
        }
    }
}

extension Ledger.Change {
    /// The change as it is named in a problem.
    fileprivate var text: String { "\(name) (\(event))" }
}
