// SPDX-License-Identifier: Apache-2.0
import Foundation

extension CKContainer {
    /// Registers the device for the pushes of this container's subscriptions. Tidebell addition: it
    /// replaces `registerForRemoteNotifications` and `didReceiveRemoteNotification` of an app's
    /// delegate on Apple's platforms.
    ///
    /// ```swift
    /// try await container.registerForRemoteNotifications { userInfo in
    ///     guard let push = CKNotification(fromRemoteNotificationDictionary: userInfo) else { return }
    ///     await fetchChanges(push)
    /// }
    /// ```
    ///
    /// Pushes arrive one after the other, in the server's order, each once in the life of the
    /// process. No push is lost while the device is offline or the process is not running, as long
    /// as the server keeps it. If the process ends before the closure returns, the push is
    /// delivered again (PUSH-13).
    ///
    /// - Parameter didReceiveRemoteNotification: Called with the payload of each push, as
    ///   Foundation values. The next push is not delivered until it returns.
    /// - Returns: The registration, when the server has registered the device and pushes can
    ///   arrive.
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
