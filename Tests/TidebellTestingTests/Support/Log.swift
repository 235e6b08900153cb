// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What happened, in the order in which tasks and callbacks reported it.
final class Log<Entry: Sendable>: Sendable {
    private let state = Mutex<[Entry]>([])

    /// What was reported so far.
    var entries: [Entry] { state.withLock { $0 } }

    /// Adds an entry.
    func append(_ entry: Entry) {
        state.withLock { $0.append(entry) }
    }
}
