// SPDX-License-Identifier: Apache-2.0

/// The signed-in user, as far as the value classes need to know.
enum CurrentUser {
    private static let name = Locked<String?>(nil)

    /// The owner of the public database's zone, as pushes write it (PUSH-18).
    static let publicOwnerName = "_defaultOwner"

    /// The record name of the signed-in user; nil while unknown.
    ///
    /// Whoever signs a user in sets it: notifications then name the user's own zones
    /// with ``CKCurrentUserDefaultName`` (NOTIF-10).
    static var recordName: String? {
        get { name.current }
        set { name.current = newValue }
    }

    /// Returns the owner name programs compare with, of the one the server names.
    ///
    /// The user's own ID, and no owner at all, become ``CKCurrentUserDefaultName``
    /// (ZONE-8); the IDs of others stay.
    static func ownerName(of serverName: String?) -> String {
        guard let serverName, !serverName.isEmpty, serverName != publicOwnerName,
            serverName != recordName
        else { return CKCurrentUserDefaultName }
        return serverName
    }
}
