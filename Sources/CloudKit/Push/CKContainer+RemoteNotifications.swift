// SPDX-License-Identifier: Apache-2.0
import Foundation

extension CKContainer {
    /// Registers the device for the pushes of this container's subscriptions. Tidebell
    /// addition: what `registerForRemoteNotifications` and `didReceiveRemoteNotification`
    /// of an app's delegate are on Apple's platforms.
    ///
    /// ```swift
    /// try await container.registerForRemoteNotifications { userInfo in
    ///     guard let push = CKNotification(fromRemoteNotificationDictionary: userInfo) else { return }
    ///     await fetchChanges(push)
    /// }
    /// ```
    ///
    /// Pushes come one after the other, in the server's order, each once in the life of
    /// the process; none is lost while the device is offline or the process is not
    /// running, as long as the server keeps it. A push whose handling did not return
    /// before the process ended comes again (PUSH-13).
    ///
    /// - Parameter didReceiveRemoteNotification: What to do with a push's payload, made of
    ///   plain Foundation values. Waits with the next push until it returns.
    /// - Returns: The registration, once the server has registered the device and pushes
    ///   flow.
    /// - Throws: `notAuthenticated` without a signed-in user, `networkUnavailable` and
    ///   similar when the server cannot be reached; always a ``CKError``.
    @discardableResult
    public func registerForRemoteNotifications(
        _ didReceiveRemoteNotification:
            @escaping @Sendable (_ userInfo: [AnyHashable: Any]) async -> Void
    ) async throws -> CKRemoteNotificationRegistration {
        let receiver = try NotificationReceiver(connection, didReceiveRemoteNotification)
        return try await CKRemoteNotificationRegistration.start(receiver)
    }
}
