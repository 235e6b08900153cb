// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// A user of the endurance run, whose saves follow one another, so that the pushes on a device are those of
/// the saves in their order.
final class EnduranceUser: Sendable {
    /// The saves whose moments are kept; no device is further behind.
    private static let kept = 1024

    let token: String
    private let state = Mutex(State())

    private struct State {
        var saves = 0
        var syncToken: String?
        var moments = [UInt64](repeating: 0, count: kept)
    }

    init(token: String) { self.token = token }

    /// How many saves there were.
    var saves: Int { state.withLock(\.saves) }

    /// Up to where the device that fetches has what changed.
    var syncToken: String? {
        get { state.withLock(\.syncToken) }
        set { state.withLock { $0.syncToken = newValue } }
    }

    /// Notes a save that is sent now, or was to be sent at that moment.
    func willSave(due moment: UInt64) {
        state.withLock { state in
            state.moments[state.saves % Self.kept] = moment
            state.saves += 1
        }
    }

    /// Notes a save whose pushes are only counted.
    func didSave() { willSave(due: 0) }

    /// When the save was due that a device's push is about, by the number of the push; nil where it is
    /// only counted.
    func moment(ofPush number: Int) -> UInt64? {
        state.withLock { state in
            guard number < state.saves, number + Self.kept >= state.saves else { return nil }
            let moment = state.moments[number % Self.kept]
            return moment == 0 ? nil : moment
        }
    }
}

/// Nanoseconds of a clock that never goes back.
func monotonicNow() -> UInt64 { DispatchTime.now().uptimeNanoseconds }
