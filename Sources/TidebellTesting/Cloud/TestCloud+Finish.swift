// SPDX-License-Identifier: Apache-2.0
import CloudKit

extension TestCloud {
    /// Stops the cloud, and fails if something is left over: pushes that the test did not take,
    /// problems that the server logged (such as a request that it could not answer), streams of
    /// devices that no longer exist, file transfers that have not finished, and injected faults
    /// that did not occur.
    ///
    /// Call it last, while you hold the devices whose pushes are to count;
    /// ``run(container:environment:schema:sockets:limits:strictness:seed:clock:apns:safetyLimit:isolation:_:)``
    /// does both. It settles the cloud first, so that pushes under way count. Take pushes that you do
    /// not want to check with ``TestDevice/takePushes()``.
    ///
    /// ```swift
    /// let cloud = try await TestCloud()
    /// // … the test …
    /// try await cloud.finish()
    /// ```
    ///
    /// - Throws: ``TestCloudError/leftOver(_:)`` with everything that is left over; the server is
    ///   stopped in this case, too.
    public func finish() async throws {
        try await state.finish()
    }
}

extension CloudState {
    /// Settles, looks for what is left, and stops the server.
    func finish() async throws {
        try await settle()
        let server = try running()
        let devices = devices
        // Streams end a moment after their devices; real time passes, not the test's.
        let open = devices.reduce(0) { $0 + $1.link.openStreams }
        _ = try await changes.first(within: safetyLimit) {
            "\(server.openStreams) streams are open for devices that hold \(open)"
        } _: {
            server.openStreams <= open ? true : nil
        }
        var left = devices.flatMap { device in
            device.pendingPushes.map {
                "\(device.name) received a push that was not taken: \($0.json)"
            }
        }
        left += (apns?.pending ?? []).map {
            "FakeAPNs received a push that was not taken: \(String(decoding: $0.payload, as: UTF8.self))"
        }
        left += server.trouble.lines.map { "the server logged: \($0)" }
        left += faultLines.map { "a fault that did not happen: \($0)" }
        if server.transferCount > 0 {
            left.append("files on their way: \(server.transferCount)")
        }
        try await stop()
        guard left.isEmpty else { throw TestCloudError.leftOver(left) }
    }
}
