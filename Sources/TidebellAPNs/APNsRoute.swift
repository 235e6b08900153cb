// SPDX-License-Identifier: Apache-2.0
import Logging
import ServiceLifecycle
import Synchronization
package import TidebellCore
import TidebellPush
import TidebellScheduling
package import TidebellWire

/// Pushes to devices of Apple's, by Apple's push service.
///
/// A native push token is a cursor into the notification log: it moves when Apple
/// took a notification, or will never take it. So pushes survive restarts and
/// outages, come in log order, at least once and with the same `apns-id` each time.
package final class APNsRoute: PushRoute, Service {
    private let lanes: [ContainerKey: APNsLane]
    private let configuration: APNsConfiguration?
    private let surroundings: APNsSurroundings
    private let cursors: APNsCursors
    private let sender: (any APNsSender)?
    private let wake = WakeSignal(isRaised: true)
    /// Containers without a way to Apple for which that was logged.
    private let reported = Mutex<Set<String>>([])

    /// Creates the route; nil makes one that delivers nothing and logs that once
    /// somebody asks for it.
    package convenience init(
        _ configuration: APNsConfiguration?, _ surroundings: APNsSurroundings
    ) {
        self.init(
            configuration, surroundings, sender: configuration.map { APNsConnections($0) }
        )
    }

    /// Creates the route over a wire of one's own.
    package init(
        _ configuration: APNsConfiguration?, _ surroundings: APNsSurroundings,
        sender: (any APNsSender)?
    ) {
        self.configuration = configuration
        self.surroundings = surroundings
        self.sender = sender
        let cursors = APNsCursors(store: surroundings.store)
        self.cursors = cursors
        var lanes: [ContainerKey: APNsLane] = [:]
        if let configuration, let sender {
            for lane in Self.lanes(configuration, surroundings, sender, cursors, wake) {
                lanes[lane.container] = lane
            }
        }
        self.lanes = lanes
    }

    /// A lane for each container and environment; containers with one key share its
    /// provider tokens, because Apple limits how many are made.
    private static func lanes(
        _ configuration: APNsConfiguration, _ surroundings: APNsSurroundings,
        _ sender: any APNsSender, _ cursors: APNsCursors, _ wake: WakeSignal
    ) -> [APNsLane] {
        var tokens: [[String]: ProviderTokens] = [:]
        return configuration.apps.flatMap { app in
            let name = [app.credentials.teamID, app.credentials.keyID]
            let source = tokens[name] ?? ProviderTokens(app.credentials)
            tokens[name] = source
            return configuration.gateways.map { environment, gateway in
                APNsLane(
                    container: ContainerKey(container: app.container, environment: environment),
                    app: app, gateway: gateway, configuration: configuration,
                    surroundings: surroundings, sender: sender, tokens: source, cursors: cursors,
                    claimAgain: wake
                )
            }
        }
    }

    /// Notes that the log has more.
    package func publish(
        _ notifications: [StoredNotification], after ends: [UserID: NotificationSequence]
    ) {
        lookAgain(for: nil)
    }

    /// The same of another process: what it published may be for a target whose lease this one has.
    package func lookAgain(for users: Set<UserID>?) {
        for lane in lanes.values { lane.noteNews() }
        wake.raise()
    }

    /// Takes note that a native token was registered, and logs what will keep its
    /// pushes from coming: once for a container.
    package func registered(_ token: StoredPushToken, in container: ContainerKey) {
        guard lanes[container] == nil,
            reported.withLock({ $0.insert(container.container).inserted })
        else { return }
        surroundings.logger.notice(
            """
            a device registered a push token of Apple's, but there is no key for Apple's push \
            service; see tidebell serve --help
            """,
            metadata: ["container": "\(container.container)"]
        )
    }

    /// Returns the topic that pushes of a container go to; nil where none are sent.
    package func topic(of container: ContainerKey) -> String? { lanes[container]?.app.topic }

    /// Whether nothing can be delivered now: all is delivered, or waits for the time.
    package func isSettled() async throws -> Bool {
        for lane in lanes.values where !(try await lane.isSettled()) { return false }
        return true
    }
}

// MARK: - The service

extension APNsRoute {
    /// Delivers until the task is cancelled or the service group shuts down
    /// gracefully, which lets requests under way have their answer.
    package func run() async throws {
        guard let configuration, let sender else {
            // Ends by shutdown or cancellation, which is what is waited for.
            try? await gracefulShutdown()
            return
        }
        await withGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.cursors.run() }
                group.addTask { await self.follow(configuration) }
                await self.runLanes()
                group.cancelAll()
            }
        } onGracefulShutdown: {
            for lane in self.lanes.values { lane.stop() }
        }
        for lane in lanes.values { await lane.giveBack() }
        await sender.close()
    }

    private func runLanes() async {
        await withDiscardingTaskGroup { group in
            for lane in lanes.values { group.addTask { await lane.run() } }
        }
    }

    /// Has the lanes claim the targets that something waits for.
    private func follow(_ configuration: APNsConfiguration) async {
        var failures = 0
        while !Task.isCancelled {
            var waits: [Duration] = []
            var problem: (any Error)?
            for lane in lanes.values {
                do {
                    let next = try await lane.claim()
                    let now = surroundings.now()
                    waits.append(configuration.pollInterval)
                    if let next { waits.append(max(.milliseconds(1), now.duration(to: next))) }
                } catch {
                    guard !Task.isCancelled else { return }
                    // The others have queues of their own.
                    problem = error
                }
            }
            failures = problem == nil ? 0 : failures + 1
            if let problem {
                reportUnreadable(problem, isFirst: failures == 1)
                waits.append(
                    configuration.wait(
                        failures: failures, atLeast: .zero, atMost: configuration.longestWait,
                        jitter: surroundings.jitter()
                    )
                )
            }
            surroundings.onIdle()
            await wake.wait(
                atMost: waits.min() ?? configuration.pollInterval, on: surroundings.clock)
        }
    }

    private func reportUnreadable(_ error: any Error, isFirst: Bool) {
        guard isFirst else { return }
        surroundings.logger.warning(
            "the queue of push tokens cannot be read; pushes to Apple's push service wait",
            metadata: ["error": "\(error)"]
        )
    }
}
