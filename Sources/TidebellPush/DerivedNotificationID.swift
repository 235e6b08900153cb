// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import TidebellCore
import TidebellWire

/// The ID of a notification, which follows from its match, so that a pass that is
/// repeated, by whomever, gives the same (PUSH-7, PUSH-9).
///
/// A UUID of version 8: a part of the SHA-256 of the store, the change, the subscription and
/// what of the change it reports. It opens nothing: whoever knows one can mark the notification as
/// read, as its user only.
struct DerivedNotificationID {
    private var hash = SHA256()

    /// Returns the ID of a match, in lower case.
    static func of(_ match: SubscriptionMatch, in store: UInt64) -> String {
        var id = DerivedNotificationID()
        id.add(Int64(bitPattern: store))
        id.add(match.entry.database.rawValue)
        id.add(match.entry.position.rawValue)
        // A store that came back from an older moment unnoticed gives IDs again.
        id.add(match.entry.committedAt.rawValue)
        id.add(match.subscription.user.rawValue)
        // One subscription has one serial, whatever it is saved as.
        id.add(match.subscription.serial.rawValue)
        if case .record(let change) = match.cause {
            id.add(Int64(change.event.rawValue))
            id.add(change.recordName)
        }
        return id.text
    }

    private mutating func add(_ number: Int64) {
        withUnsafeBytes(of: number.littleEndian) { hash.update(bufferPointer: $0) }
    }

    /// With its length before it, so that no two lists of texts are alike.
    private mutating func add(_ text: String) {
        add(Int64(text.utf8.count))
        hash.update(data: Array(text.utf8))
    }

    private var text: String {
        var bytes = Array(hash.finalize().prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let uuid = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        return uuid.uuidString.lowercased()
    }
}
