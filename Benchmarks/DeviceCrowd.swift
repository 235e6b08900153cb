// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellProcesses

/// Many devices with their streams open, read by one thread that waits for all
/// of them at once: what the client costs is taken from the server on a small
/// machine, so it does next to nothing.
final class DeviceCrowd {
    /// Devices that may be registering at a time; each registration is a durable
    /// write.
    private static let openingAtATime = 256
    /// The longest wait for anything.
    private static let patience = 60_000

    private struct Device {
        /// How much of the pattern the latest bytes match.
        var matched = 0
        var isReady = false
        /// Pushes that came since the last ``waitForPushes``.
        var pushes = 0
    }

    private var devices: [Device] = []
    /// The connections, in the order of `devices`.
    private var connections: [Int32] = []
    private let poller: Poller
    private var chunk = [UInt8](repeating: 0, count: 1 << 16)
    private let ready = Array("event: ready".utf8)
    private let push = Array(#""sid":"fan""#.utf8)

    /// Lets this process open as many files as the system allows.
    static func raiseFileLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    init() throws { poller = try Poller() }

    deinit {
        for connection in connections { close(connection) }
    }

    /// How many devices are connected.
    var count: Int { devices.count }

    /// Connects devices of one user until there are `count`, and returns when all are live.
    func grow(to count: Int, on server: BenchServer) throws {
        try connect(count - devices.count, on: server) { server.streamPath(clientID: "fan-\($0)") }
    }

    /// Connects so many devices more, and returns when all are live; `path` is that of a device's stream, by
    /// its number.
    func connect(_ count: Int, on server: BenchServer, path: (Int) -> String) throws {
        let end = devices.count + count
        while devices.count < end {
            let first = devices.count
            for number in first..<min(end, first + Self.openingAtATime) {
                try open(path(number), port: server.program.port)
            }
            var waiting = devices.count - first
            while waiting > 0 {
                try receive { _, device, pattern in
                    guard pattern == .ready, !device.isReady else { return }
                    device.isReady = true
                    waiting -= 1
                }
            }
        }
    }

    /// Waits for pushes, and tells the number of the device for each that came; at most so long, where
    /// nothing does.
    func receive(atMost milliseconds: Int, _ pushed: (Int) -> Void) throws {
        try take(poller.wait(atMost: milliseconds)) { number, _, pattern in
            if pattern == .push { pushed(number) }
        }
    }

    /// Returns when every device has received `pushes` pushes, with the moment at
    /// which the last one had each of them.
    func waitForPushes(_ pushes: Int) throws -> [Date] {
        var left = [Int](repeating: devices.count, count: pushes)
        var moments = [Date](repeating: .distantPast, count: pushes)
        while left.contains(where: { $0 > 0 }) {
            try receive { _, device, pattern in
                guard pattern == .push, device.pushes < pushes else { return }
                left[device.pushes] -= 1
                if left[device.pushes] == 0 { moments[device.pushes] = Date() }
                device.pushes += 1
            }
        }
        for index in devices.indices { devices[index].pushes = 0 }
        return moments
    }

    // MARK: -

    private enum Pattern { case ready, push }

    private func open(_ path: String, port: Int) throws {
        let connection = try Loopback.connect(port)
        let request = "GET \(path) HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"
        let sent = request.utf8.withContiguousStorageIfAvailable {
            write(connection, $0.baseAddress, $0.count)
        }
        guard sent == request.utf8.count else {
            throw ProcessFailure(description: "a device could not send its request")
        }
        _ = fcntl(connection, F_SETFL, O_NONBLOCK)
        try poller.add(connection, as: devices.count)
        connections.append(connection)
        devices.append(Device())
    }

    private func receive(_ found: (Int, inout Device, Pattern) -> Void) throws {
        let ready = poller.wait(atMost: Self.patience)
        guard !ready.isEmpty else { throw ProcessFailure(description: "nothing came for a minute") }
        try take(ready, found)
    }

    private func take(
        _ ready: [Int], _ found: (Int, inout Device, Pattern) -> Void
    ) throws {
        for number in ready {
            let length = recv(connections[number], &chunk, chunk.count, 0)
            guard length > 0 else { throw ProcessFailure(description: "a device was cut off") }
            scan(length, of: &devices[number]) { found(number, &$0, $1) }
        }
    }

    /// Looks for the pattern the device waits for, across the ends of chunks.
    ///
    /// Both patterns begin with a byte that their other ones can follow only
    /// where JSON and events never have it, so a mismatch starts over.
    private func scan(
        _ length: Int, of device: inout Device, _ found: (inout Device, Pattern) -> Void
    ) {
        chunk.withUnsafeBufferPointer { bytes in
            for byte in bytes[..<length] {
                let pattern = device.isReady ? push : ready
                if byte == pattern[device.matched] {
                    device.matched += 1
                } else {
                    device.matched = byte == pattern[0] ? 1 : 0
                }
                guard device.matched == pattern.count else { continue }
                device.matched = 0
                found(&device, device.isReady ? .push : .ready)
            }
        }
    }
}
