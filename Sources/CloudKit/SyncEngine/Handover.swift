// SPDX-License-Identifier: Apache-2.0
import TidebellScheduling

/// Hands values from one task to another, one at a time: who gives one waits until it was dealt with.
///
/// Neither wait ends by a cancellation: who gives is about to end then, and says so.
final class Handover<Value: Sendable>: Sendable {
    private struct State {
        /// What was given and not taken yet.
        var value: Value?
        /// Who gave what was taken last, or was given now.
        var giver: CheckedContinuation<Void, Never>?
        /// Who waits for a value.
        var taker: CheckedContinuation<Value?, Never>?
        var isOver = false
    }

    private let state = Locked(State())

    /// Gives a value, and returns when it was dealt with.
    func give(_ value: Value) async {
        await withCheckedContinuation { giver in
            let taker = state.withLock { state in
                defer { state.taker = nil }
                state.giver = giver
                if state.taker == nil { state.value = value }
                return state.taker
            }
            taker?.resume(returning: value)
        }
    }

    /// Returns the next value, having dealt with the one before; nil when there are no more.
    func next() async -> Value? {
        let dealtWith = state.withLock { state -> CheckedContinuation<Void, Never>? in
            // What waits to be taken was not dealt with yet.
            guard state.value == nil else { return nil }
            defer { state.giver = nil }
            return state.giver
        }
        dealtWith?.resume()
        return await withCheckedContinuation { taker in
            let answer = state.withLock { state -> Value?? in
                if let value = state.value {
                    state.value = nil
                    return value
                }
                guard !state.isOver else { return .some(nil) }
                state.taker = taker
                return nil
            }
            if let answer { taker.resume(returning: answer) }
        }
    }

    /// Ends it: nothing is given any more.
    func end() {
        state.withLock { state in
            defer { state.taker = nil }
            state.isOver = true
            return state.taker
        }?.resume(returning: nil)
    }
}
