// SPDX-License-Identifier: Apache-2.0
import ServiceLifecycle
import TestSupport
import TidebellHTTP
import TidebellScheduling
import TidebellServer
import Logging

extension TestAPI {
    /// Serves this cloud on a free port while `body` runs, with what `change` makes of it.
    func serving(
        connectionLimit: Int = 300, publicURL: String? = nil,
        shareApps: ShareAppLinks = ShareAppLinks(), _ change: (inout Cloud) -> Void = { _ in },
        drainClock: any Clock<Duration> = ContinuousClock(),
        _ body: @escaping @Sendable (RawConnection.Port) async throws -> Void
    ) async throws {
        var served = cloud.webServices.cloud
        // A connection of a busy machine's test is neither idle nor slow.
        var limits = served.shares.limits
        limits.giveTime(.patience)
        served.shares = Shares(
            limits: limits, clock: served.time.clock, metrics: served.shares.metrics)
        change(&served)
        let (running, started) = AsyncStream.makeStream(of: Int.self)
        let server = HTTPServer(
            WebServices(
                cloud: served, publicURL: publicURL, shareApps: shareApps,
                allowsSignUp: cloud.webServices.allowsSignUp),
            at: HTTPServer.ListenAddress(host: "127.0.0.1", port: 0),
            connectionLimit: connectionLimit, drainClock: drainClock
        ) { started.yield($0.port) }
        let services = ServiceGroup(
            services: [server], logger: TestLog(level: .error).logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.run() }
            for await port in running {
                try await body(RawConnection.Port(number: port))
                break
            }
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
    }
}
