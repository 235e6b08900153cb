// SPDX-License-Identifier: Apache-2.0

/// Events in the order of their moments; of one moment in the order in which they were added.
struct EventQueue<Event> {
    private struct Item {
        var moment: Duration
        var number: Int
        var event: Event

        func comesBefore(_ other: Item) -> Bool {
            (moment, number) < (other.moment, other.number)
        }
    }

    /// A heap.
    private var items: [Item] = []
    private var count = 0

    mutating func add(_ event: Event, at moment: Duration) {
        items.append(Item(moment: moment, number: count, event: event))
        count += 1
        var child = items.count - 1
        while child > 0, items[child].comesBefore(items[(child - 1) / 2]) {
            items.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func next() -> (moment: Duration, event: Event)? {
        guard let last = items.popLast() else { return nil }
        guard let first = items.first else { return (last.moment, last.event) }
        items[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < items.count {
                if items[child].comesBefore(items[least]) { least = child }
            }
            guard least != parent else { return (first.moment, first.event) }
            items.swapAt(parent, least)
            parent = least
        }
    }
}
