// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellHTTP
import TidebellServer

/// The options of `tidebell serve` about how much of it one caller may take: a user, or
/// the address of a client without a user. Those with a number are short for `--limit`.
struct ShareOptions: ParsableArguments {
    private static let standard = ShareLimits()
    private static let mega = 1 << 20

    @Option(
        help: ArgumentHelp(
            """
            Requests per second of one caller, more after a pause; 0 means no limit \
            (default: \(ServerConfiguration.defaultRequestsPerSecond)).
            """,
            valueName: "count"
        )
    )
    var requestsPerSecond: Int?

    @Option(
        help: ArgumentHelp(
            "Connections from one address, except a trusted proxy (default: half of all).",
            valueName: "count"
        )
    )
    var connectionsPerAddress: Int?

    @Option(
        help: ArgumentHelp(
            """
            Device streams and courier polls of one caller \
            (default: \(Self.standard.heldRequestsPerCaller)).
            """,
            valueName: "count")
    )
    var streamsPerCaller: Int?

    @Option(
        help: ArgumentHelp(
            """
            Files that one caller uploads at a time, and files that one caller downloads at a time \
            (default: a quarter of the limit for all callers, 32).
            """,
            valueName: "count")
    )
    var transfersPerCaller: Int?

    @Option(
        help: ArgumentHelp(
            """
            Megabytes of all request and answer bodies in memory \
            (default: \(Self.standard.bodyBytes / Self.mega)).
            """,
            valueName: "count")
    )
    var bodyMegabytes: Int?

    @Option(
        help: ArgumentHelp(
            """
            Megabytes of the request and answer bodies of one caller in memory \
            (default: \(Self.standard.bodyBytesPerCaller / Self.mega)).
            """,
            valueName: "count")
    )
    var bodyMegabytesPerCaller: Int?

    @Option(
        help: ArgumentHelp(
            """
            How long a request may take to arrive, plus one second per \
            \(Self.standard.leastBodyRate / 1024) KB \
            (default: \(Self.standard.bodyTime.components.seconds)).
            """,
            valueName: "seconds"
        )
    )
    var bodySeconds: Int?

    @Flag(
        help: """
            Apply the limits for addresses also to addresses of this machine. Do not use it if an \
            untrusted proxy on this machine is in front of the server.
            """
    )
    var countLoopback = false

    @Flag(
        help: """
            Let web pages from the Internet use this server although it is in a private network or on \
            the browser's own machine; browsers ask the server for this (Private Network Access).
            """
    )
    var allowPrivateNetwork = false

    @Option(
        name: .customLong("trusted-proxy"),
        help: ArgumentHelp(
            """
            A proxy, or a network of proxies such as 10.0.0.0/8, whose X-Forwarded-For is trusted to \
            name the client's address; may be given several times.
            """,
            valueName: "address"
        )
    )
    var trustedProxies: [String] = []

    func validate() throws { _ = try proxies() }

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

    /// Puts the options that stand for limits into the settings.
    func apply(to settings: inout LimitSettings) throws {
        let options: [(value: Int?, unit: String, limit: String, name: String)] = [
            (requestsPerSecond, "", "requestsPerSecond", "--requests-per-second"),
            (connectionsPerAddress, "", "connectionsPerAddress", "--connections-per-address"),
            (streamsPerCaller, "", "heldRequestsPerCaller", "--streams-per-caller"),
            (transfersPerCaller, "", "transfersPerCaller", "--transfers-per-caller"),
            (bodyMegabytes, "M", "bodyBytes", "--body-megabytes"),
            (bodyMegabytesPerCaller, "M", "bodyBytesPerCaller", "--body-megabytes-per-caller"),
            (bodySeconds, "s", "bodyTime", "--body-seconds"),
        ]
        for option in options {
            guard let value = option.value else { continue }
            try settings.set(option.limit, to: "\(value)\(option.unit)", by: option.name)
        }
    }

    /// Puts the other options into the limits.
    func apply(to limits: inout ShareLimits) throws {
        limits.trustedProxies = try proxies()
        limits.countsLoopback = countLoopback
        limits.opensPrivateNetwork = allowPrivateNetwork
    }
}
