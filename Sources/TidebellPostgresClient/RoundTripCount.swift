// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// Counts waits for a server, and what is sent to it, of all connections that are made with an address.
package final class RoundTripCount: Sendable {
    private struct State {
        var waits: [String] = []
        var statements: [String] = []
    }

    private let state = Mutex(State())

    /// Begins at none.
    package init() {}

    /// Returns what was waited for since the last call: of each wait the statement that was sent last.
    package func take() -> [String] {
        state.withLock { state in
            defer { state.waits = [] }
            return state.waits
        }
    }

    /// Returns what was sent since the last call.
    package func takeStatements() -> [String] {
        state.withLock { state in
            defer { state.statements = [] }
            return state.statements
        }
    }

    func note(_ sql: String?) { state.withLock { $0.waits.append(sql ?? "") } }

    func note(sent sql: String) { state.withLock { $0.statements.append(sql) } }
}

extension RoundTripCount: Hashable {
    package static func == (left: RoundTripCount, right: RoundTripCount) -> Bool { left === right }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
