// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellHTTP
import TidebellServer

/// The options of `tidebell serve` about how much of it one caller may take: a user, or
/// the address of who is none.
struct ShareOptions: ParsableArguments {
    private static let standard = ShareLimits()
    private static let mega = 1 << 20

    @Option(
        help: ArgumentHelp(
            "Requests a second of one caller, after a pause more at once; 0 is no bound.",
            valueName: "count"
        )
    )
    var requestsPerSecond = ServerConfiguration.defaultRequestsPerSecond

    @Option(
        help: ArgumentHelp(
            "Connections from one address that is no trusted proxy (default: half of all).",
            valueName: "count"
        )
    )
    var connectionsPerAddress: Int?

    @Option(
        help: ArgumentHelp("Device streams and courier polls of one caller.", valueName: "count")
    )
    var streamsPerCaller = Self.standard.heldRequestsPerCaller

    @Option(
        help: ArgumentHelp(
            "Files that one caller sends at a time, and likewise fetches.",
            valueName: "count")
    )
    var transfersPerCaller = Self.standard.transfersPerCaller

    @Option(
        help: ArgumentHelp(
            "Megabytes of all request and answer bodies in memory.", valueName: "count")
    )
    var bodyMegabytes = Self.standard.bodyBytes / Self.mega

    @Option(
        help: ArgumentHelp("The same of one caller.", valueName: "count")
    )
    var bodyMegabytesPerCaller = Self.standard.bodyBytesPerCaller / Self.mega

    @Option(
        help: ArgumentHelp(
            """
            How long a request may take to arrive, but for one second more per \
            \(Self.standard.leastBodyRate / 1024) KB.
            """,
            valueName: "seconds"
        )
    )
    var bodySeconds = Int(Self.standard.bodyTime.components.seconds)

    @Flag(
        help: """
            Hold addresses of this machine to the bounds for addresses, too: where no proxy \
            on it stands before the server that is not trusted.
            """
    )
    var countLoopback = false

    @Option(
        name: .customLong("trusted-proxy"),
        help: ArgumentHelp(
            """
            A proxy, or a network of proxies such as 10.0.0.0/8, which is believed when its \
            X-Forwarded-For says where a request comes from; may be said several times.
            """,
            valueName: "address"
        )
    )
    var trustedProxies: [String] = []

    func validate() throws {
        let positive = [
            ("--connections-per-address", connectionsPerAddress ?? 1),
            ("--streams-per-caller", streamsPerCaller),
            ("--transfers-per-caller", transfersPerCaller),
            ("--body-seconds", bodySeconds),
        ].map { (name: $0.0, value: $0.1, least: 1) }
        // Less would refuse requests and answers that are within all other bounds.
        let bytes = [
            ("--body-megabytes", bodyMegabytes, ShareLimits.leastBodyBytes / Self.mega),
            (
                "--body-megabytes-per-caller", bodyMegabytesPerCaller,
                ShareLimits.leastBodyBytesPerCaller / Self.mega
            ),
        ]
        for (name, value, least) in positive + bytes where !(least...1_000_000).contains(value) {
            throw ValidationError("\(name) must be \(least) to 1000000, not \(value).")
        }
        guard (0...1_000_000).contains(requestsPerSecond) else {
            throw ValidationError(
                "--requests-per-second must be 0 to 1000000, not \(requestsPerSecond).")
        }
        _ = try proxies()
    }

    private func proxies() throws -> TrustedProxies {
        do {
            return try TrustedProxies(trustedProxies)
        } catch {
            throw ValidationError(
                "--trusted-proxy must be an address, or a network such as 10.0.0.0/8, not "
                    + "'\(error.text)'."
            )
        }
    }

    /// Puts the options into the limits.
    func apply(to limits: inout ShareLimits) throws {
        limits.trustedProxies = try proxies()
        limits.requestsPerSecond = requestsPerSecond
        limits.connectionsPerAddress = connectionsPerAddress
        limits.heldRequestsPerCaller = streamsPerCaller
        limits.transfersPerCaller = transfersPerCaller
        limits.bodyBytes = bodyMegabytes * Self.mega
        limits.bodyBytesPerCaller = bodyMegabytesPerCaller * Self.mega
        limits.bodyTime = .seconds(bodySeconds)
        limits.countsLoopback = countLoopback
    }
}
