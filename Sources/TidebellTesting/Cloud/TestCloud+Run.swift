// SPDX-License-Identifier: Apache-2.0
import CloudKit

extension TestCloud {
    /// Starts a cloud, runs a test on it, and ends it with ``finish()``, so that the test fails also
    /// for what it did not look at.
    ///
    /// ```swift
    /// try await TestCloud.run { cloud in
    ///     let phone = try await cloud.device(user: "anna")
    ///     // … the test …
    /// }
    /// ```
    ///
    /// Devices that the body makes stay until it has ended: a push that reached one of them and that
    /// nobody took is left over, even where the body holds the device no more.
    ///
    /// - Parameters:
    ///   - container: The container of `CKContainer.default()` on all devices.
    ///   - sockets: Whether devices reach the server over HTTP on 127.0.0.1.
    ///   - limits: The limits of the server: how much is too much.
    ///   - strictness: Whether what Apple's servers refuse is refused where it would work.
    ///   - seed: What UUIDs and tokens follow from.
    ///   - clock: The clock of server and devices.
    ///   - apns: The push service that devices of Apple's get their pushes by; nil for none.
    ///   - safetyLimit: How long (of real time) anything the test waits for may take.
    ///   - isolation: The actor that the body runs on.
    ///   - body: The test.
    /// - Throws: What the body throws; where it ends well, ``TestCloudError/leftOver(_:)`` with all
    ///   that is left. The cloud is stopped in each case.
    public static func run<Value>(
        container: String = TestCloud.defaultContainer,
        sockets: Bool = false,
        limits: ServerLimits = ServerLimits(),
        strictness: ServerStrictness = .lenient,
        seed: UInt64 = 1,
        clock: ManualClock = ManualClock(),
        apns: FakeAPNs? = nil,
        safetyLimit: Duration = TestCloud.defaultSafetyLimit,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (TestCloud) async throws -> Value
    ) async throws -> Value {
        let cloud = try await TestCloud(
            container: container, sockets: sockets, limits: limits, strictness: strictness,
            seed: seed, clock: clock,
            apns: apns, safetyLimit: safetyLimit
        )
        cloud.state.keepDevices(true)
        defer { cloud.state.keepDevices(false) }
        let value: Value
        do {
            value = try await body(cloud)
        } catch {
            // The error of the body is the one to see: what is left may follow from it, and the
            // cloud may be stopped already.
            try? await cloud.stop()
            throw error
        }
        try await cloud.finish()
        return value
    }
}
