// SPDX-License-Identifier: Apache-2.0
public import Foundation
import Synchronization
import TidebellScheduling

/// A clock that stands still until a test moves it.
///
/// It is the clock of everything in a ``TestCloud``: the dates of records, how long change tokens
/// stay valid, heartbeats, and how long a device waits before it tries again.
///
/// ```swift
/// let cloud = try await TestCloud()
/// await cloud.clock.advance(by: .seconds(60))
/// await cloud.clock.jump(by: .seconds(31 * 24 * 3600))  // a month passes at once
/// ```
public final class ManualClock: Clock, Sendable {
    /// A point in time on the clock: the time since the clock was made.
    public struct Instant: InstantProtocol, Sendable {
        /// The time since the clock was made.
        public let offset: Duration

        /// Creates a point in time.
        public init(offset: Duration) {
            self.offset = offset
        }

        /// Returns the point in time that is `duration` later.
        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        /// Returns the time from this point in time to `other`.
        public func duration(to other: Instant) -> Duration {
            other.offset - offset
        }

        /// Whether `left` is earlier than `right`.
        public static func < (left: Instant, right: Instant) -> Bool {
            left.offset < right.offset
        }
    }

    /// The date at which the clock starts, unless a test sets another one: noon (UTC) of 1 January
    /// 2026.
    public static let defaultStart = Date(timeIntervalSince1970: 1_767_268_800)

    /// The date at which the clock started.
    public let start: Date
    private let state = Mutex(State())

    /// Creates a clock that shows `start`.
    public init(start: Date = ManualClock.defaultStart) {
        self.start = start
    }

    /// The current time of the clock.
    public var now: Instant { state.withLock { $0.now } }

    /// The current date of the clock.
    public var date: Date {
        let (seconds, attoseconds) = now.offset.components
        return start.addingTimeInterval(Double(seconds) + Double(attoseconds) * 1e-18)
    }

    /// The smallest step of the clock.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The points in time that sleeping tasks wait for, earliest first.
    public var deadlines: [Instant] {
        state.withLock { $0.sleepers.values.map(\.deadline).sorted() }
    }

    /// Waits until the clock is moved to `deadline`.
    ///
    /// Fails with `CancellationError` when the task is cancelled first.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await sleep(until: deadline, as: .direct)
    }

    /// Waits until the clock is moved to `deadline`.
    func sleep(until deadline: Instant, as kind: SleepKind) async throws {
        let id = state.withLock { $0.makeID() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                fallAsleep(
                    Sleeper(id: id, deadline: deadline, kind: kind, continuation: continuation))
            }
        } onCancel: {
            state.withLock { $0.cancel(id) }?.resume(throwing: CancellationError())
        }
    }

    /// Moves the clock forward, and wakes the tasks that sleep until then, in the order of their
    /// deadlines; each task sees the clock at its own deadline.
    ///
    /// Before every step, and at the end, other tasks can run. They are certain to have finished
    /// only after ``TestCloud/settle()``.
    public func advance(by duration: Duration) async {
        await advance(to: now.advanced(by: duration))
    }

    /// Moves the clock forward to `target`, as ``advance(by:)`` does; it never goes back.
    public func advance(to target: Instant) async {
        await Self.letOthersRun()
        while let sleeper = state.withLock({ $0.wakeNext(notAfter: target) }) {
            sleeper.continuation.resume()
            await Self.letOthersRun()
        }
        state.withLock { $0.now = max($0.now, target) }
        await Self.letOthersRun()
    }

    /// Moves the clock forward in one step, then wakes the tasks that slept until then, in the
    /// order of their deadlines, as after the machine was suspended.
    ///
    /// Unlike ``advance(by:)``, it takes no longer for a month than for a minute: repeated work
    /// (heartbeats, maintenance) is done once. Devices notice that their connections were silent
    /// for too long, and connect again.
    public func jump(by duration: Duration) async {
        await Self.letOthersRun()
        let due = state.withLock { $0.wakeAll(movingBy: duration) }
        for sleeper in due { sleeper.continuation.resume() }
        await Self.letOthersRun()
    }

    /// The earliest moment that a test, its code, or an operation of a device waits for; not those of what goes
    /// on in the background, but those of devices that are awaited to connect again.
    var nextAwaited: Instant? {
        state.withLock { state in
            state.sleepers.values.filter { sleeper in
                switch sleeper.kind {
                case .direct, .awaited: true
                case .reconnecting(let connection): state.awaitedConnections.contains(connection)
                case .background: false
                }
            }.map(\.deadline).min()
        }
    }

    /// The earliest moment at which one of the devices, named by their IDs, tries to connect for pushes again;
    /// nil where none of them sleeps until then.
    func nextReconnection(of devices: Set<String>) -> Instant? {
        state.withLock { state in
            state.sleepers.values.filter { sleeper in
                guard case .reconnecting(let connection) = sleeper.kind else { return false }
                return devices.contains(connection.device)
            }.map(\.deadline).min()
        }
    }

    /// Sets the containers that a device is awaited to connect to again.
    func setAwaited(_ containers: Set<String>, ofDevice device: String) {
        state.withLock { state in
            guard !containers.isEmpty || !state.awaitedConnections.isEmpty else { return }
            state.awaitedConnections = state.awaitedConnections.filter { $0.device != device }
            for container in containers {
                state.awaitedConnections.insert(Connection(device: device, container: container))
            }
        }
    }

    /// The operations of devices that wait, and until when, earliest first.
    var awaited: [(awaited: Awaited, deadline: Instant)] {
        state.withLock { $0.awaited }
            .sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
            .compactMap { sleeper in
                guard case .awaited(let awaited) = sleeper.kind else { return nil }
                return (awaited, sleeper.deadline)
            }
    }

    /// Ends the waits of the operations that wait now.
    func endAwaited(_ reason: (Awaited, Instant) -> String) {
        let sleepers = state.withLock { state in
            let sleepers = state.awaited
            for sleeper in sleepers { state.sleepers[sleeper.id] = nil }
            return sleepers
        }
        for sleeper in sleepers {
            guard case .awaited(let awaited) = sleeper.kind else { continue }
            let reason = reason(awaited, sleeper.deadline)
            sleeper.continuation.resume(throwing: AwaitedSleep.Ended(reason))
        }
    }

    /// Calls `body` whenever somebody falls asleep.
    func onSleep(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.observers.append(body) }
    }

    private func fallAsleep(_ sleeper: Sleeper) {
        let (outcome, observers) = state.withLock { ($0.admit(sleeper), $0.observers) }
        switch outcome {
        case .asleep: for observer in observers { observer() }
        case .awake: sleeper.continuation.resume()
        case .cancelled: sleeper.continuation.resume(throwing: CancellationError())
        }
    }

    /// How often ``letOthersRun()`` gives way: enough for a chain of tasks that
    /// wake one another.
    private static let yieldCount = 32

    static func letOthersRun() async {
        for _ in 0..<yieldCount { await Task.yield() }
    }
}

extension ManualClock {
    /// Who waits for a sleep to end.
    struct Awaited: Hashable, Sendable {
        /// The ID of the device whose operation waits; nil for the server.
        let device: String?
        /// What it waits for.
        let purpose: String
    }

    /// How a device receives the pushes of a container.
    struct Connection: Hashable, Sendable {
        let device: String
        let container: String
    }

    /// What a task sleeps for.
    enum SleepKind: Hashable, Sendable {
        /// A test, or code under test, sleeps by itself.
        case direct
        /// An operation of a device, which an app waits for.
        case awaited(Awaited)
        /// The pause before a device connects again.
        case reconnecting(Connection)
        /// What goes on beside: heart-beats, maintenance.
        case background
    }
}

/// One task that waits for a moment.
private struct Sleeper {
    let id: UInt64
    let deadline: ManualClock.Instant
    let kind: ManualClock.SleepKind
    let continuation: CheckedContinuation<Void, any Error>
}

/// The tasks that sleep, and what time it is.
private struct State {
    enum Admission {
        case asleep, awake, cancelled
    }

    var now = ManualClock.Instant(offset: .zero)
    var sleepers: [UInt64: Sleeper] = [:]
    /// Those of them that are operations of devices.
    var awaited: [Sleeper] {
        sleepers.values.filter { if case .awaited = $0.kind { true } else { false } }
    }
    /// The connections that somebody waits for.
    var awaitedConnections: Set<ManualClock.Connection> = []
    var observers: [@Sendable () -> Void] = []
    private var cancelled: Set<UInt64> = []
    private var lastID: UInt64 = 0

    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Lets a sleeper sleep, unless its time has come or it was cancelled before.
    mutating func admit(_ sleeper: Sleeper) -> Admission {
        if cancelled.remove(sleeper.id) != nil { return .cancelled }
        if sleeper.deadline <= now { return .awake }
        sleepers[sleeper.id] = sleeper
        return .asleep
    }

    /// Takes a sleeper out; one that does not sleep yet will not fall asleep.
    mutating func cancel(_ id: UInt64) -> CheckedContinuation<Void, any Error>? {
        guard let sleeper = sleepers.removeValue(forKey: id) else {
            cancelled.insert(id)
            return nil
        }
        return sleeper.continuation
    }

    /// Moves on and takes out all sleepers whose time has come.
    mutating func wakeAll(movingBy duration: Duration) -> [Sleeper] {
        now = now.advanced(by: duration)
        let due = sleepers.values.filter { $0.deadline <= now }
        for sleeper in due { sleepers[sleeper.id] = nil }
        return due.sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
    }

    /// Takes out the sleeper whose time comes first and moves to its deadline.
    mutating func wakeNext(notAfter target: ManualClock.Instant) -> Sleeper? {
        let next = sleepers.values.min { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
        guard let next, next.deadline <= target else { return nil }
        now = max(now, next.deadline)
        return sleepers.removeValue(forKey: next.id)
    }
}
