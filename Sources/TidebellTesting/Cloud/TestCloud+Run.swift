// SPDX-License-Identifier: Apache-2.0
import CloudKit

extension TestCloud {
    /// Starts a cloud, runs a test on it, and stops it with ``finish()``, so that the test also
    /// fails if something is left over.
    ///
    /// ```swift
    /// try await TestCloud.run { cloud in
    ///     let phone = try await cloud.device(user: "anna")
    ///     // … the test …
    /// }
    /// ```
    ///
    /// Devices that the body makes exist until it has ended: a push to one of them that was not
    /// taken is left over, even if the body has no reference to the device any more.
    ///
    /// - Parameters:
    ///   - container: The container of `CKContainer.default()` on all devices.
    ///   - environment: The environment of devices that are made without one.
    ///   - schema: The path of a `.ckdb` file that both environments begin with.
    ///   - sockets: Whether devices reach the server over HTTP on 127.0.0.1.
    ///   - limits: The limits of the server.
    ///   - strictness: Whether to refuse requests that only Apple's servers refuse.
    ///   - seed: The seed of UUIDs and tokens.
    ///   - clock: The clock of server and devices.
    ///   - apns: The push service for Apple's devices; nil for none.
    ///   - safetyLimit: The longest time (in real time) that the test waits for anything while the
    ///     clock stands still.
    ///   - isolation: The actor that the body runs on.
    ///   - body: The test.
    /// - Throws: What the body throws; if it throws nothing, ``TestCloudError/leftOver(_:)`` with
    ///   everything that is left over. The cloud is stopped in every case.
    public static func run<Value>(
        container: String = TestCloud.defaultContainer,
        environment: Environment = .development,
        schema: String? = nil,
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
            container: container, environment: environment, schema: schema, sockets: sockets,
            limits: limits, strictness: strictness, seed: seed, clock: clock, apns: apns,
            safetyLimit: safetyLimit
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
