// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension ModifyBadge {
    /// Sets the caller's badge (NOTIF-14): the next notification that counts it
    /// has one more (NINFO-11). No push goes to the user's other devices.
    package static func run(
        _ request: ModifyBadge, for call: Call, in transaction: some BadgeWriting
    ) throws -> ModifyBadge {
        let user = try call.requireUser().id
        guard (0...BadgeCounters.limit).contains(request.value) else {
            throw WireError.badRequest(
                "value is \(request.value); a badge is between 0 and \(BadgeCounters.limit)"
            )
        }
        try transaction.putBadges([user: request.value])
        return request
    }
}
