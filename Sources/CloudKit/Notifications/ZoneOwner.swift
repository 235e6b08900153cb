// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Decides which of the zones a push names are the user's own (NOTIF-10).
///
/// The push itself knows: zones of the private database are, that of the public
/// database counts as such, and it names whose subscription fired. No signed-in user
/// has to be known, so that a push can be read before the first request.
struct ZoneOwner {
    /// The database; nil when the push names none that is known.
    var scope: DatabaseScope?
    /// The record name of the user the subscription belongs to.
    var user: String?

    /// Returns the owner name programs compare with, of the one the push gives.
    ///
    /// The user's own ID, and no owner at all, become ``CKCurrentUserDefaultName``
    /// (ZONE-8); the IDs of others stay.
    func name(_ raw: String?) -> String {
        guard let raw, !raw.isEmpty, raw != user, scope != .private, scope != .public else {
            return CKCurrentUserDefaultName
        }
        return raw
    }
}
