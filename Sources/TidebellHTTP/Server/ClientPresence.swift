// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Whether the client of a connection is still there, for the code that lets it wait.
///
/// A client that closes its side of the connection has gone, too: whether it would still
/// read an answer, nobody can know before one is sent.
package final class ClientPresence: Sendable {
    private struct State {
        var hasLeft = false
        var lastID: UInt64 = 0
        var leavings: [UInt64: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    /// Creates the presence of a client that has just come.
    package init() {}

    /// Whether it has gone.
    package var hasLeft: Bool { state.withLock(\.hasLeft) }

    /// Notes that it has gone.
    package func leave() {
        let leavings = state.withLock { state in
            state.hasLeft = true
            defer { state.leavings = [:] }
            return state.leavings
        }
        for leaving in leavings.values { leaving() }
    }

    /// Calls `leaving` when the client goes, at once if it has, for as long as what this
    /// returns is held.
    func onLeaving(_ leaving: @escaping @Sendable () -> Void) -> Watch {
        let id = state.withLock { state -> UInt64? in
            guard !state.hasLeft else { return nil }
            state.lastID += 1
            state.leavings[state.lastID] = leaving
            return state.lastID
        }
        if id == nil { leaving() }
        return Watch(presence: self, id: id)
    }

    /// Ends with its last reference.
    final class Watch: Sendable {
        private let presence: ClientPresence
        private let id: UInt64?

        fileprivate init(presence: ClientPresence, id: UInt64?) {
            self.presence = presence
            self.id = id
        }

        deinit {
            guard let id else { return }
            presence.state.withLock { $0.leavings[id] = nil }
        }
    }
}
