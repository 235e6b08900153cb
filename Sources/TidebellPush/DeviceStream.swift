// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import Metrics

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
            while !Task.isCancelled, !stream.slot.queue.hasEnded {
                if !page.isEmpty { return .events(nextOfPage(upTo: bytes)) }
                if isBehind {
                    do {
                        try await readPage()
                    } catch  where Task.isCancelled {
                        return nil
                    }
                    continue
                }
                let streams = stream.streams
                let next = await stream.slot.queue.next(upTo: bytes) { await streams.spread() }
                switch next {
                case .events(let events):
                    // What the log gave already was published meanwhile.
                    let new = events.filter { $0.sequence > cursor }
                    guard !new.isEmpty else { continue }
                    return .events(given(new))
                case .overflowed: isBehind = true
                case .silence: return .silence
                case .ended, nil: return nil
                }
            }
            return nil
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
            let read = try await stream.streams.store.read {
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
                    for: device.user, after: start, excludingOrigin: device.clientID, limit: limit
                )
                // Here, so that what is published after the read is known to follow it.
                if notifications.count < limit { queue.read(upTo: head) }
                return (start, notifications)
            }
            guard let (start, notifications) = read else { return stream.slot.queue.end() }
            hasStarted = true
            cursor = start
            page = notifications.reversed().map(StreamEvent.init)
            isBehind = notifications.count >= limit
        }
    }
}
