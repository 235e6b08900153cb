// SPDX-License-Identifier: Apache-2.0

/// A bounded memory of IDs, which forgets the oldest.
struct RecentIDs: Sendable {
    private var order: [String] = []
    private var oldest = 0
    private var ids: Set<String> = []

    /// Returns whether an ID is remembered.
    func contains(_ id: String) -> Bool { ids.contains(id) }

    /// Remembers an ID, and forgets the oldest beyond `limit`.
    mutating func remember(_ id: String, atMost limit: Int) {
        guard ids.insert(id).inserted else { return }
        if order.count < limit {
            order.append(id)
        } else {
            ids.remove(order[oldest])
            order[oldest] = id
            oldest = (oldest + 1) % limit
        }
    }

    /// Forgets everything.
    mutating func removeAll() {
        self = RecentIDs()
    }
}
