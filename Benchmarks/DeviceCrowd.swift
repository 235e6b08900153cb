// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellProcesses

/// Many devices with their streams open, read by one thread that waits for all
/// of them at once (`poll`): what the client costs is taken from the server on
/// a small machine, so it does next to nothing.
final class DeviceCrowd {
    /// Devices that may be registering at a time; each registration is a durable
    /// write.
    private static let openingAtATime = 256
    /// The longest wait for anything.
    private static let patience: Int32 = 60_000

    private struct Device {
        /// How much of the pattern the latest bytes match.
        var matched = 0
        var isReady = false
        /// Pushes that came since the last ``waitForPushes``.
        var pushes = 0
    }

    private var devices: [Device] = []
    /// The connections, in the order of `devices`.
    private var connections: [pollfd] = []
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

    deinit {
        for connection in connections { close(connection.fd) }
    }

    /// How many devices are connected.
    var count: Int { devices.count }

    /// Connects devices until there are `count`, and returns when all are live.
    func grow(to count: Int, on server: BenchServer) throws {
        while devices.count < count {
            let first = devices.count
            for number in first..<min(count, first + Self.openingAtATime) {
                try open(server.streamPath(clientID: "fan-\(number)"), port: server.program.port)
            }
            var waiting = devices.count - first
            while waiting > 0 {
                try receive { device, pattern in
                    guard pattern == .ready, !device.isReady else { return }
                    device.isReady = true
                    waiting -= 1
                }
            }
        }
    }

    /// Returns when every device has received `pushes` pushes, with the moment at
    /// which the last one had each of them.
    func waitForPushes(_ pushes: Int) throws -> [Date] {
        var left = [Int](repeating: devices.count, count: pushes)
        var moments = [Date](repeating: .distantPast, count: pushes)
        while left.contains(where: { $0 > 0 }) {
            try receive { device, pattern in
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
        connections.append(pollfd(fd: connection, events: Int16(POLLIN), revents: 0))
        devices.append(Device())
    }

    private func receive(_ found: (inout Device, Pattern) -> Void) throws {
        let count = poll(&connections, nfds_t(connections.count), Self.patience)
        guard count > 0 else { throw ProcessFailure(description: "nothing came for a minute") }
        for index in connections.indices where connections[index].revents != 0 {
            let length = recv(connections[index].fd, &chunk, chunk.count, 0)
            guard length > 0 else { throw ProcessFailure(description: "a device was cut off") }
            scan(length, of: &devices[index], found)
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
