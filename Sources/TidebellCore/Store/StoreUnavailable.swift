// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Why a store cannot do for now what it was asked for: nothing of it happened, and what is
/// in the way is the machine's, so that the same call may work later.
package struct StoreUnavailable: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is in the way.
    package enum Cause: String, Sendable, Hashable, CaseIterable {
        case diskIsFull, diskFails, isLocked, isReadOnly, isGone, isUnreachable

        /// Seconds after which it may be tried again.
        package var retryAfter: Double {
            switch self {
            // A database is away for the seconds of a switchover, and comes back by itself; what waits longer
            // makes a longer pause of it. Requests wait for it at the server, too, so that few come again so soon.
            case .isUnreachable: 2
            case .diskIsFull, .diskFails, .isLocked, .isReadOnly, .isGone: 10
            }
        }
    }

    package var cause: Cause
    /// The engine's message, for the operator.
    package var detail: String

    /// Creates an error.
    package init(_ cause: Cause, detail: String) {
        self.cause = cause
        self.detail = detail
    }

    /// What callers get, who see nothing of the machine.
    package var reason: String {
        switch cause {
        case .diskIsFull: "the server's disk is full; nothing was stored, try again later"
        case .diskFails: "the server's disk fails; nothing was stored, try again later"
        case .isLocked: "another program is using the server's store; nothing was stored, try again"
        case .isReadOnly:
            "the server's store cannot be written; nothing was stored, try again later"
        case .isUnreachable:
            "the server's database cannot be reached; try again later"
        case .isGone:
            "files of the server's store were removed; its operator must bring them back or start "
                + "the server again"
        }
    }

    package var description: String { "\(reason) (\(detail))" }

    /// The answer to a caller, who shall try again (web-services 3.3).
    package var answer: WireError {
        WireError(.tryAgainLater, reason, retryAfter: cause.retryAfter)
    }
}
