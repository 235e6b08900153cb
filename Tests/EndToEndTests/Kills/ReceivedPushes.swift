// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The pushes of the query subscription that reached a device, by whatever route.
struct ReceivedPushes {
    /// A push of the query subscription.
    private struct Push: Decodable {
        struct Body: Decodable {
            var nid: String
            var qry: Query?
        }

        struct Query: Decodable {
            var rid: String
            var fo: Int
            var af: [String: Int]?
        }

        var ck: Body
    }

    /// What came for one change.
    struct ReceivedChange: Hashable {
        /// The notification IDs; a repeated push has the one it had.
        var ids: Set<String> = []
        var numbers: Set<Int> = []
        /// How many changes came before the first push of this one.
        var position = 0
    }

    /// What came for each change.
    private(set) var changes: [Ledger.Change: ReceivedChange] = [:]
    /// Every push that came, the repeated ones too.
    private(set) var events = 0

    /// Takes a payload, of whatever subscription; returns the notification ID of one of the query subscription.
    @discardableResult
    mutating func take(_ payload: Data) -> String? {
        guard let push = try? JSONDecoder().decode(Push.self, from: payload),
            let query = push.ck.qry, let event = Ledger.Change.Event(rawValue: query.fo)
        else { return nil }
        events += 1
        let change = Ledger.Change(name: query.rid, event: event)
        var received = changes[change] ?? ReceivedChange(position: changes.count)
        received.ids.insert(push.ck.nid)
        if let number = query.af?["value"] { received.numbers.insert(number) }
        changes[change] = received
        return push.ck.nid
    }
}
