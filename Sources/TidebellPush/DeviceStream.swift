// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import Metrics
import TidebellScheduling

/// The notifications of one device, in order, for as long as somebody iterates.
///
/// Ends when the task is cancelled, or when the device may receive no more; fails with
/// the store's error. Cancelling a call of `next` takes no event away, so it can be
/// raced against a timer. Iterate once.
package struct DeviceStream: AsyncSequence, Sendable {
    /// Whose it is.
    package let device: StoredDevice
    /// Who receives; empty for a stream that was opened outside of sessions.
    let listeners: Set<Listener>
    let start: NotificationSequence
    let streams: DeviceStreams
    let slot: StreamSlot
    /// Bytes of events of the log that are kept for the device; a read that has more is cut there.
    private static let pageBytes = 32 * 1024

    /// Has `follower` called when there is something to take, after ``Iterator/take(upTo:)`` found
    /// nothing; instead of one before.
    package func follow(_ follower: @escaping @Sendable () -> Void) {
        slot.queue.follow(follower)
    }

    package func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }

    /// Reads the log until it is exhausted, then what is published, and the log
    /// again whenever too much was published to keep.
    package struct Iterator: AsyncIteratorProtocol {
        private let stream: DeviceStream
        /// Everything up to here was given out.
        private var cursor: NotificationSequence
        /// Read from the log and not yet given out, the next one last.
        private var page: [StreamEvent] = []
        /// Whether the log may have more than was read.
        private var isBehind = true
        private var hasStarted = false
        /// Whether the time is over for which a background push is waited with.
        private var delayIsOver = false
        /// Wakes the task that waits in ``nextPart(upTo:)``.
        private var wake: WakeSignal?

        fileprivate init(_ stream: DeviceStream) {
            self.stream = stream
            cursor = stream.start
        }

        package mutating func next() async throws -> StreamEvent? {
            while let part = try await nextPart(upTo: 0) {
                if case .events(let events) = part { return events.first }
            }
            return nil
        }

        /// Returns the next event and those behind it that need not be waited for, or that a sign of
        /// life is due, which is ``DeviceStreams/heartbeatInterval`` after the one before or sooner;
        /// nil at the end.
        ///
        /// - Parameter bytes: Once the frames have as many, no further event is taken: what goes to
        ///   a connection in one write is one system call, not one for each event.
        package mutating func nextPart(upTo bytes: Int) async throws -> StreamPart? {
            while !Task.isCancelled {
                switch take(upTo: bytes) {
                case .part(let part): return part
                case .nothing: guard await follow().wait() else { return nil }
                case .ended: return nil
                case .unprepared:
                    do {
                        try await prepare()
                    } catch  where Task.isCancelled {
                        return nil
                    }
                }
            }
            return nil
        }

        private mutating func follow() -> WakeSignal {
            if let wake { return wake }
            // What came since nothing was found is not lost: it raises the signal at once.
            let wake = WakeSignal(isRaised: true)
            self.wake = wake
            stream.follow { wake.raise() }
            return wake
        }

        /// Takes what ``nextPart(upTo:)`` would return, without waiting for anything.
        package mutating func take(upTo bytes: Int) -> StreamStep {
            let queue = stream.slot.queue
            while !queue.hasEnded {
                if !page.isEmpty { return .part(.events(nextOfPage(upTo: bytes))) }
                if isBehind { return .unprepared }
                let delays = stream.streams.delaysBackground && !delayIsOver
                switch queue.take(upTo: bytes, delaysBackground: delays) {
                case .events(let events):
                    delayIsOver = false
                    // What the log gave already was published meanwhile.
                    let new = events.filter { $0.sequence > cursor }
                    guard !new.isEmpty else { continue }
                    return .part(.events(given(new)))
                case .overflowed:
                    delayIsOver = false
                    isBehind = true
                case .silence: return .part(.silence)
                case .background: return .unprepared
                case .nothing: return .nothing
                case .ended: return .ended
                }
            }
            return .ended
        }

        /// Does what is to be waited for before ``take(upTo:)`` has more: a read of the log, or the
        /// delay of a background push.
        package mutating func prepare() async throws {
            guard !isBehind else { return try await readPage() }
            await stream.streams.spread()
            delayIsOver = true
        }

        /// Takes events from the page that was read: one, and more up to a number of bytes.
        private mutating func nextOfPage(upTo bytes: Int) -> [StreamEvent] {
            var events: [StreamEvent] = []
            var taken = 0
            while let event = page.popLast() {
                events.append(event)
                taken += event.wholeFrame.bytes.count
                if taken >= bytes { break }
            }
            // An idle stream keeps no memory for its backlog.
            if page.isEmpty { page = [] }
            return given(events)
        }

        private mutating func given(_ events: [StreamEvent]) -> [StreamEvent] {
            for event in events {
                invariant(event.sequence > cursor, "a stream's cursor only goes forward")
                cursor = event.sequence
            }
            stream.streams.metrics.streamDeliveries.increment(by: events.count)
            return events
        }

        private mutating func readPage() async throws {
            let (device, after, isFirst) = (stream.device, cursor, !hasStarted)
            let (listeners, watch) = (stream.listeners, stream.streams.watch)
            let queue = stream.slot.queue
            let limit = stream.streams.configuration.notificationsPerPage
            let store = stream.streams.store
            let read = try await stream.streams.catchUps.read(for: device.user) {
                try await store.read {
                    reader -> (NotificationSequence, [StoredNotification])? in
                    // Who was signed out while the stream was being opened was not watched yet.
                    if let watch, try !watch.mayReceive(listeners, in: reader) {
                        return nil
                    }
                    // A cursor from a store that was since restored from a backup
                    // would keep the device deaf until the log catches up.
                    let head = try reader.notificationHead(of: device.user)
                    let start = isFirst ? Swift.min(after, head) : after
                    invariant(!isFirst || start <= head, "a stream begins within its user's log")
                    let notifications = try reader.notifications(
                        for: device.user, after: start, excludingOrigin: device.clientID,
                        limit: limit
                    )
                    // Here, so that what is published after the read is known to follow it.
                    if notifications.count < limit { queue.read(upTo: head) }
                    return (start, notifications)
                }
            }
            guard let (start, notifications) = read else { return stream.slot.queue.end() }
            hasStarted = true
            cursor = start
            var events: [StreamEvent] = []
            var bytes = 0
            for notification in notifications where bytes < DeviceStream.pageBytes {
                let event = StreamEvent(notification)
                events.append(event)
                bytes += event.wholeFrame.bytes.count
            }
            page = events.reversed()
            // What was cut off is read again, so that a device which reads slowly keeps little.
            isBehind = notifications.count >= limit || events.count < notifications.count
        }
    }
}
