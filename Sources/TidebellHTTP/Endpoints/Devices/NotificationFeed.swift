// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPush
import TidebellScheduling
import TidebellWire

/// The body of a device's stream: server-sent events, and signs of life.
struct NotificationFeed: Feed {
    /// Bytes of events that wait, after which what follows goes in a write of its own.
    private static let writtenAtOnce = 32 * 1024

    private let stream: DeviceStream
    private var parts: DeviceStream.Iterator
    /// What it begins with; nil once that was taken.
    private var announcement: [UInt8]?
    private let isCut: Bool
    private let slot: HeldRequests.Slot
    private let journal: DeliveryJournal
    private let now: @Sendable () -> Instant
    /// What was taken and is not in the journal yet.
    private var taken: [StreamEvent] = []

    /// - Parameters:
    ///   - isCut: Whether payloads are those of Apple's push service.
    ///   - slot: Given back when the feed goes.
    init(
        _ stream: DeviceStream, after announcement: [UInt8], isCut: Bool,
        in slot: HeldRequests.Slot, of cloud: Cloud
    ) {
        self.stream = stream
        parts = stream.makeAsyncIterator()
        self.announcement = announcement
        self.isCut = isCut
        self.slot = slot
        journal = cloud.journal
        now = cloud.time.now
    }

    mutating func take() -> FeedStep {
        if let announcement {
            self.announcement = nil
            return .pieces([announcement])
        }
        switch parts.take(upTo: Self.writtenAtOnce) {
        case .part(.events(let events)):
            taken = events
            return .pieces(events.map { (isCut ? $0.frame : $0.wholeFrame).bytes })
        case .part(.silence): return .pieces([ServerSentEvent.heartbeat])
        case .unprepared: return .unprepared
        case .nothing: return .nothing
        case .ended: return .ended
        }
    }

    mutating func prepare() async throws { try await parts.prepare() }

    mutating func wasSent() {
        guard !taken.isEmpty else { return }
        let moment = now()
        for event in taken {
            journal.record(
                Delivery(
                    notification: event.sequence, user: stream.device.user,
                    clientID: stream.device.clientID, route: .stream, at: moment,
                    answer: Delivery.sent
                )
            )
        }
        taken = []
    }

    func follow(_ follower: @escaping @Sendable () -> Void) { stream.follow(follower) }
}
