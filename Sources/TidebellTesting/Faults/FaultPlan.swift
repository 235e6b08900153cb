// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Synchronization

/// The faults that were asked for and have not all happened yet, in the order in which they were.
final class FaultPlan: Sendable {
    private struct Entry {
        let fault: Fault
        let kind: RequestKind
        /// How often it is still to happen.
        var left: Int
    }

    private let entries = Mutex<[Entry]>([])

    /// Adds a fault.
    func add(_ fault: Fault, into kind: RequestKind, times: Int) {
        precondition(times > 0, "A fault happens at least once.")
        entries.withLock { $0.append(Entry(fault: fault, kind: kind, left: times)) }
    }

    /// Forgets all that have not happened.
    func removeAll() {
        entries.withLock { $0 = [] }
    }

    /// Takes the first fault that meets a request; nil where it goes through.
    func take(for request: SeenRequest) -> (fault: Fault, kind: RequestKind)? {
        entries.withLock { entries in
            guard
                let index = entries.firstIndex(where: {
                    $0.kind.matches(request) && $0.fault.canMeet(request)
                })
            else { return nil }
            let entry = entries[index]
            entries[index].left -= 1
            if entry.left == 1 { entries.remove(at: index) }
            return (entry.fault, entry.kind)
        }
    }

    /// What has not happened yet, a line each.
    var lines: [String] {
        entries.withLock { entries in
            entries.map { "\($0.fault) into \($0.kind), \($0.left) times" }
        }
    }
}

extension Fault {
    /// Whether a request has what the fault is about.
    func canMeet(_ request: SeenRequest) -> Bool {
        switch effect {
        case .error, .lost, .slow: true
        case .items(let items):
            items.keys.contains { record in
                request.records.contains(record.recordName)
                    && request.zones.contains { $0.isNamed(by: record.zoneID) }
            }
        case .shortPage:
            switch request.body {
            case .zoneChanges, .databaseChanges, .query: true
            default: false
            }
        }
    }
}

extension TestDevice {
    /// Has the device's next requests meet a fault.
    ///
    /// ```swift
    /// phone.inject(.zoneBusy(retryAfter: .seconds(3)), into: .modifyRecords, times: 2)
    /// ```
    ///
    /// Faults that were asked for stand in ``TestCloud/dump()``; one that did not happen by the end of
    /// the test fails ``TestCloud/finish()``, unless ``removeFaults()`` was called.
    ///
    /// - Parameters:
    ///   - fault: What goes wrong.
    ///   - kind: The requests that meet it.
    ///   - times: How many of them. The `CloudKit` module sends again what it may, so that one lost answer
    ///     is not seen by the app, and three are.
    public func inject(_ fault: Fault, into kind: RequestKind = .any, times: Int = 1) {
        link.faults.add(fault, into: kind, times: times)
    }

    /// Forgets the faults of the device that have not happened yet.
    public func removeFaults() {
        link.faults.removeAll()
        link.pushFaults.removeAll()
    }
}

extension TestCloud {
    /// Has the next requests meet a fault, whichever device sends them.
    ///
    /// As ``TestDevice/inject(_:into:times:)``, which comes first where both are asked for.
    public func inject(_ fault: Fault, into kind: RequestKind = .any, times: Int = 1) {
        state.faults.add(fault, into: kind, times: times)
    }

    /// Forgets the faults that have not happened yet, of the cloud and of all devices.
    public func removeFaults() {
        state.faults.removeAll()
        for device in state.devices { device.removeFaults() }
    }
}

extension CloudState {
    /// The faults that have not happened yet, a line each.
    var faultLines: [String] {
        faults.lines.map { "\($0), on any device" }
            + devices.flatMap { device in
                (device.link.faults.lines + device.link.pushFaults.lines)
                    .map { "\($0), on \(device.name)" }
            }
    }

    /// The accounts that are refused, a line each.
    var refusalLines: [String] {
        devices.compactMap { device in
            device.link.refusal.line.map { "\($0), on \(device.name)" }
        }
    }
}
