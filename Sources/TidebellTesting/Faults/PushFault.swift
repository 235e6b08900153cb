// SPDX-License-Identifier: Apache-2.0
public import CloudKit
import Synchronization
import TidebellCore
import TidebellWire

/// A failure of a push on its way to a device; see ``TestDevice/inject(push:of:times:)``.
///
/// Apple does not guarantee pushes: they may arrive late, twice, pruned, or not at all. The server
/// has sent the push in each case, and the notification is in the user's history
/// (`CKFetchNotificationChangesOperation`).
public struct PushFault: Sendable, Hashable, CustomStringConvertible {
    /// What happens.
    enum Effect: Sendable, Hashable {
        case lost, doubled, pruned
        case late(Duration)
    }

    let effect: Effect

    /// The push never arrives.
    public static let lost = PushFault(effect: .lost)
    /// The push arrives twice, with the same notification ID.
    public static let doubled = PushFault(effect: .doubled)
    /// The push lacks everything that the server removes if there is no room: `isPruned` is true,
    /// and the record's or zone's ID, the reason and the fields are missing (PRUNE-2 to PRUNE-4).
    /// What displays the push and wakes the app is kept.
    public static let pruned = PushFault(effect: .pruned)

    /// The push arrives when this time has passed on the cloud's clock; later pushes arrive before
    /// it.
    public static func late(by duration: Duration) -> PushFault {
        PushFault(effect: .late(duration))
    }

    /// The fault as Swift code.
    public var description: String {
        switch effect {
        case .lost: "lost"
        case .doubled: "doubled"
        case .pruned: "pruned"
        case .late(let duration): "late by \(duration)"
        }
    }
}

extension TestDevice {
    /// Makes the device's next pushes fail with a fault.
    ///
    /// ```swift
    /// phone.inject(push: .lost)
    /// try await laptop.run { try await app.save("milk") }
    /// try await phone.expectNoPushes()
    /// ```
    ///
    /// ``TestCloud/settle()`` waits neither for a push that is lost nor for one that is late.
    ///
    /// - Parameters:
    ///   - fault: What goes wrong.
    ///   - subscriptionID: The subscription whose pushes it affects; nil for any.
    ///   - times: How many pushes it affects.
    public func inject(
        push fault: PushFault, of subscriptionID: CKSubscription.ID? = nil, times: Int = 1
    ) {
        link.pushFaults.add(fault, of: subscriptionID, times: times)
    }
}

/// The faults of a device's pushes, and the pushes that they hold back.
final class PushFaultPlan: Sendable {
    private struct Entry {
        let fault: PushFault
        let subscriptionID: String?
        var left: Int
    }

    private struct State {
        var entries: [Entry] = []
        /// The IDs of notifications that do not come, or not before a moment.
        var heldBack: [String: ManualClock.Instant?] = [:]
    }

    private let state = Mutex(State())

    /// Adds a fault.
    func add(_ fault: PushFault, of subscriptionID: String?, times: Int) {
        precondition(times > 0, "A fault happens at least once.")
        state.withLock {
            $0.entries.append(Entry(fault: fault, subscriptionID: subscriptionID, left: times))
        }
    }

    /// Whether pushes go through as they are.
    var isIdle: Bool { state.withLock { $0.entries.isEmpty && $0.heldBack.isEmpty } }

    /// Forgets all that have not happened.
    func removeAll() {
        state.withLock { $0.entries = [] }
    }

    /// Whether a notification does not come, or not yet.
    func holdsBack(_ notificationID: String, at now: ManualClock.Instant) -> Bool {
        state.withLock { state in
            guard let moment = state.heldBack[notificationID] else { return false }
            return moment.map { now < $0 } ?? true
        }
    }

    /// Loses what is still to come.
    func loseLate() {
        state.withLock { $0.heldBack = $0.heldBack.mapValues { _ in nil } }
    }

    /// Lets a notification through that came late.
    func release(_ notificationID: String) {
        state.withLock { _ = $0.heldBack.removeValue(forKey: notificationID) }
    }

    /// Takes the fault that meets a push; nil where it goes through.
    func take(for payload: WirePushPayload, at now: ManualClock.Instant) -> PushFault? {
        state.withLock { state in
            if let id = payload.notificationID, state.heldBack.keys.contains(id) {
                // Sent again on a new connection: what is lost stays lost.
                return .lost
            }
            let index = state.entries.firstIndex { entry in
                entry.subscriptionID.map { $0 == payload.subscriptionID } ?? true
            }
            guard let index else { return nil }
            let fault = state.entries[index].fault
            state.entries[index].left -= 1
            if state.entries[index].left == 0 { state.entries.remove(at: index) }
            guard let id = payload.notificationID else { return fault }
            switch fault.effect {
            case .lost: state.heldBack.updateValue(nil, forKey: id)
            case .late(let duration):
                state.heldBack.updateValue(now.advanced(by: duration), forKey: id)
            case .doubled, .pruned: break
            }
            return fault
        }
    }

    /// What has not happened yet, a line each.
    var lines: [String] {
        state.withLock { state in
            state.entries.map { entry in
                "push \(entry.fault)\(entry.subscriptionID.map { " of \($0)" } ?? ""), "
                    + "\(entry.left) times"
            }
        }
    }
}

/// Cuts a stream into its events, so that each can be passed on, held or changed.
struct StreamFrames {
    private static let end = Array("\n\n".utf8)
    private var rest: [UInt8] = []

    /// Takes bytes and returns the events that they complete, as they came.
    mutating func take(_ piece: [UInt8]) -> [[UInt8]] {
        rest += piece
        var frames: [[UInt8]] = []
        while let range = rest.firstRange(of: Self.end) {
            frames.append(Array(rest[..<range.upperBound]))
            rest.removeSubrange(..<range.upperBound)
        }
        return frames
    }
}

/// A push as the stream carries it.
struct PushFrame {
    /// The event as it came.
    let bytes: [UInt8]
    private let event: ServerSentEvent
    /// What it reports.
    let payload: WirePushPayload

    /// Reads an event; nil for one that is no push.
    init?(_ frame: [UInt8]) {
        var parser = ServerSentEventParser()
        guard let event = try? parser.consume(frame).first, event.name == nil,
            let object = try? JSONSerialization.jsonObject(with: Data(event.data.utf8)),
            let userInfo = object as? [String: Any],
            let payload = WirePushPayload.read(userInfo)?.payload
        else { return nil }
        bytes = frame
        self.event = event
        self.payload = payload
    }

    /// The ID of the notification.
    var notificationID: String? { payload.notificationID }

    /// The same push without the ID by which a device knows one that it has had.
    var repeated: [UInt8] { Array("data: \(event.data)\n\n".utf8) }

    /// The same push without what there is no room for.
    var pruned: [UInt8] {
        var payload = payload
        for property in PayloadProperty.removalOrder(of: payload.kind)
            .prefix(while: { $0 != .contentAvailable })
        {
            _ = property.remove(from: &payload)
        }
        payload.isPruned = true
        return ServerSentEvent.encoded(id: event.id ?? "", data: payload.encoded())
    }
}
