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
        inPushes received: [Ledger.Change: PushReader.ReceivedChange], of device: String
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
            let created = Ledger.Change(name: change.name, event: .created)
            if let first = received[created], first.position > push.position {
                problems.append("\(device): \(change.text) came before the creation")
            }
        }
        problems += made(up: received.keys, device)
        return problems.sorted()
    }

    /// Compares what a webhook's receiver got with the pushes of a device: both are notified by
    /// the same.
    func problems(
        inMessages received: [Ledger.Change: Set<String>],
        besidePushes pushes: [Ledger.Change: PushReader.ReceivedChange]
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
        inPushes received: [Ledger.Change: PushReader.ReceivedChange],
        besidePushes others: [Ledger.Change: PushReader.ReceivedChange]
    ) -> [String] {
        changes.keys.filter { received[$0]?.ids != others[$0]?.ids }.map {
            "the devices were notified of \($0.text) by other pushes"
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
