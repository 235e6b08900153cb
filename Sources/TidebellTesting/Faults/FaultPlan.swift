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
    /// Makes the device's next requests fail with a fault.
    ///
    /// ```swift
    /// phone.inject(.zoneBusy(retryAfter: .seconds(3)), into: .modifyRecords, times: 2)
    /// ```
    ///
    /// Injected faults are listed in ``TestCloud/dump()``. A fault that has not occurred by the end
    /// of the test fails ``TestCloud/finish()``, unless ``removeFaults()`` was called.
    ///
    /// - Parameters:
    ///   - fault: What goes wrong.
    ///   - kind: The requests that it affects.
    ///   - times: How many requests it affects. The `CloudKit` module repeats requests, so the app
    ///     does not notice one lost answer, but it notices three.
    public func inject(_ fault: Fault, into kind: RequestKind = .any, times: Int = 1) {
        link.faults.add(fault, into: kind, times: times)
    }

    /// Removes the faults of the device that have not occurred yet.
    public func removeFaults() {
        link.faults.removeAll()
        link.pushFaults.removeAll()
    }
}

extension TestCloud {
    /// Makes the next requests of any device fail with a fault.
    ///
    /// It works like ``TestDevice/inject(_:into:times:)``, whose faults occur first if there are
    /// both.
    public func inject(_ fault: Fault, into kind: RequestKind = .any, times: Int = 1) {
        state.faults.add(fault, into: kind, times: times)
    }

    /// Removes the faults of the cloud and of all devices that have not occurred yet.
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
