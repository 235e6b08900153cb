// SPDX-License-Identifier: Apache-2.0
import TidebellPush

/// A moment at which a kill may fall, between a change and the last that anybody
/// does about its pushes.
enum FaultPoint: Hashable, CaseIterable {
    /// The change is not durable: it never happened.
    case refused
    /// The change and its outbox entry are durable, nobody read them.
    case changed
    /// A stage of a pass is over.
    case pass(PassStep)
    /// The streams know of the notifications, the couriers do not.
    case halfPublished
    /// The device has the events, and no cursor stored.
    case received
    /// The device stored its cursor, the server has no acknowledgement.
    case stored
    /// The courier's answer was written, and not acknowledged.
    case answered
    /// Device and page acknowledged.
    case acknowledged
    /// Maintenance ran.
    case maintained

    static var allCases: [FaultPoint] {
        [.refused, .changed] + PassStep.allCases.map(pass)
            + [.halfPublished, .received, .stored, .answered, .acknowledged, .maintained]
    }

    /// Whether the notifications were in the log when the process died.
    var isLogged: Bool {
        switch self {
        case .refused, .changed: false
        case .pass(let step): step == .committed || step == .published
        case .halfPublished, .received, .stored, .answered, .acknowledged, .maintained: true
        }
    }
}
