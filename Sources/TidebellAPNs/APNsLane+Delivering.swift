// SPDX-License-Identifier: Apache-2.0
import Logging
import TidebellCore
import TidebellPush
import TidebellWire
import Synchronization
import Metrics

/// One push: sent, and its answer acted on.
extension APNsLane {
    /// Sends a notification to a target; returns how its turn ends, or nil when it
    /// goes on with the next notification. Fails when something of ours fails.
    func notify(
        _ target: PushTarget, of notification: StoredNotification
    ) async throws -> APNsBacklog.Outcome? {
        guard target.apnsEnvironment == container.environment else {
            return refuse(target, notification)
        }
        let request = APNsRequest(
            notification, token: target.key.token, topic: target.topic ?? app.topic,
            expiration: configuration.expiration
        )
        let (action, answer) = try await send(request, notification, target)
        return try await act(on: action, answer, target, notification)
    }

    /// PUSH-10: the token would be unknown to the service of this environment.
    private func refuse(
        _ target: PushTarget, _ notification: StoredNotification
    ) -> APNsBacklog.Outcome? {
        let words = "not sent: the token is of APNs \(target.apnsEnvironment.rawValue)"
        record(words, notification, target)
        surroundings.metrics.skipped.increment()
        reportOnce("environment") {
            surroundings.logger.warning(
                "a push token of the other APNs environment is registered; it gets no pushes",
                metadata: metadata
            )
        }
        return nil
    }

    /// Sends a request; what a second attempt can put right at once gets one, with
    /// the same ID.
    private func send(
        _ request: APNsRequest, _ notification: StoredNotification, _ target: PushTarget
    ) async throws -> (APNsAction, APNsAnswer) {
        var isSecond = false
        while true {
            let token = try tokens.current(at: surroundings.now())
            let answer = await sender.send(request, authorization: token.text, to: gateway)
            if Task.isCancelled { throw CancellationError() }
            record(answer.words, notification, target)
            var action = APNsAction(answer)
            if action == .renew {
                let helps = tokens.drop(token, at: surroundings.now())
                if !helps || isSecond { action = .misconfigured(.clock) }
            }
            guard !isSecond, action == .renew || answer == .silence(.lost) else {
                return (action, answer)
            }
            surroundings.metrics.retries.increment()
            isSecond = true
        }
    }

    private func act(
        on action: APNsAction, _ answer: APNsAnswer, _ target: PushTarget,
        _ notification: StoredNotification
    ) async throws -> APNsBacklog.Outcome? {
        let metrics = surroundings.metrics
        switch action {
        case .delivered:
            metrics.deliveries.increment()
            worked()
            return nil
        case .skip:
            metrics.skipped.increment()
            reportNeverTaken(answer, notification)
            worked()
            return nil
        case .forget(let moment):
            worked()
            return try await forget(target, registeredUpTo: moment ?? target.registeredAt)
        case .renew, .retryService, .retryToken, .pause: metrics.retries.increment()
        case .misconfigured: break
        }
        return wait(action, answer, target)
    }

    private func wait(
        _ action: APNsAction, _ answer: APNsAnswer, _ target: PushTarget
    ) -> APNsBacklog.Outcome {
        var (least, most) = (Duration.zero, configuration.longestWait)
        switch action {
        case .delivered, .skip, .forget, .renew: break
        case .retryToken(let atLeast): least = atLeast
        case .retryService(let atLeast):
            least = atLeast
            failed(atLeast: atLeast, answer)
        case .pause(let atLeast): pause(atLeast: atLeast, answer)
        case .misconfigured(let what):
            most = configuration.longestMisconfiguredWait
            explain(what, answer)
            // A topic or token that a device named is that device's affair alone.
            let isOwn = what == .tokenOfOtherApp || (what == .topic && target.topic != nil)
            if !isOwn { pause(atMost: most) }
        }
        return .rests(atLeast: least, atMost: most)
    }

    /// The token is dead, unless it came to life again meanwhile.
    private func forget(
        _ target: PushTarget, registeredUpTo moment: Instant
    ) async throws -> APNsBacklog.Outcome {
        let token = target.key.token
        let isGone = try await surroundings.store.write(.user(target.user)) {
            try $0.removePushToken(token, registeredUpTo: moment)
        }
        guard isGone else { return .rests(atLeast: .zero, atMost: configuration.longestWait) }
        surroundings.metrics.forgotten.increment()
        surroundings.logger.debug("a dead push token was forgotten", metadata: metadata)
        return .gone
    }

    private func record(
        _ words: String, _ notification: StoredNotification, _ target: PushTarget
    ) {
        surroundings.journal.record(
            Delivery(
                notification: notification.sequence, user: target.user,
                clientID: target.clientID, route: .apns, at: surroundings.now(), answer: words
            )
        )
    }
}

// MARK: - The log

extension APNsLane {
    /// What log lines of this lane carry.
    var metadata: Logger.Metadata {
        [
            "container": "\(container.container)",
            "environment": "\(container.environment.rawValue)",
        ]
    }

    /// Warns, with the service's words.
    func report(_ message: Logger.Message, _ answer: APNsAnswer) {
        surroundings.logger.warning(
            message, metadata: metadata.merging(["answer": "\(answer.words)"]) { $1 }
        )
    }

    private func explain(_ what: APNsAction.Misconfiguration, _ answer: APNsAnswer) {
        reportOnce("\(what)") {
            report("pushes to Apple's push service fail: \(what.advice)", answer)
        }
    }

    private func reportNeverTaken(_ answer: APNsAnswer, _ notification: StoredNotification) {
        surroundings.logger.error(
            "Apple's push service permanently refuses a notification; it is skipped",
            metadata: metadata.merging([
                "answer": "\(answer.words)", "notification": "\(notification.notificationID)",
            ]) { $1 }
        )
    }

    /// Logs something unless it was logged since pushes last came through after a
    /// pause.
    func reportOnce(_ what: String, _ report: () -> Void) {
        if reported.withLock({ $0.insert(what).inserted }) { report() }
    }
}
