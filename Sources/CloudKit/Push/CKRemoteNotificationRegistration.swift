// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A device's registration for the pushes of a container. Tidebell addition.
///
/// It lasts until it is cancelled, the process ends, or the server refuses the device's tokens;
/// releasing the object does not end it. Lost connections are restored automatically.
public final class CKRemoteNotificationRegistration: Sendable {
    private let state: Locked<State>

    private struct State {
        var task: Task<Void, Never>?
        var failure: CKError?
        var hasEnded = false
    }

    private init() {
        state = Locked(State())
    }

    /// Starts to receive; returns when the server has registered the device.
    ///
    /// - Parameter ready: Called whenever the stream is live, the first time and after
    ///   each loss.
    static func start(
        _ receiver: NotificationReceiver,
        ready: @escaping @Sendable () -> Void = {}
    ) async throws(CKError) -> CKRemoteNotificationRegistration {
        let registration = CKRemoteNotificationRegistration()
        // Of several results the first counts: a failure after the success is reported by
        // `failure`.
        let (results, report) = AsyncStream<Result<Void, CKError>>.makeStream(
            bufferingPolicy: .bufferingOldest(1)
        )
        // The registration outlives this call: the task ends with it, not with the caller.
        let task = Task {
            let failure = await receiver.run {
                ready()
                report.yield(.success(()))
            }
            registration.end(failure)
            report.yield(.failure(failure ?? .cancelled()))
            report.finish()
        }
        registration.state.withLock { $0.task = task }
        for await result in results {
            try result.get()
            return registration
        }
        // The caller was cancelled while it waited.
        registration.cancel()
        throw .cancelled()
    }

    /// Ends the registration: no further push is delivered, the task of a push that is being
    /// handled is cancelled, and the server is notified which pushes the app has handled.
    public func cancel() {
        state.withLock { $0.task }?.cancel()
    }

    /// Why the registration ended without being cancelled, such as `notAuthenticated` when the web
    /// token is no longer accepted; otherwise nil.
    public var failure: CKError? { state.current.failure }

    /// Whether pushes are still received.
    public var isActive: Bool {
        state.withLock { !$0.hasEnded && $0.task?.isCancelled != true }
    }

    /// Waits until the registration has ended, for any reason.
    public func waitUntilEnded() async {
        await state.withLock { $0.task }?.value
    }

    private func end(_ failure: CKError?) {
        state.withLock { state in
            state.failure = failure
            state.hasEnded = true
        }
    }
}
