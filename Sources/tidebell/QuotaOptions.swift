// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellCore

/// The options of `tidebell serve` about how much may be stored.
struct QuotaOptions: ParsableArguments {
    private static let unbounded = "none"

    @Option(
        help: ArgumentHelp(
            """
            What one user's private databases may hold together, in bytes or with K, M or G; \
            'none' for no bound (default: \(Self.text(Limits().userQuota))).
            """,
            valueName: "size"
        )
    )
    var userQuota: String?

    @Option(
        help: ArgumentHelp(
            """
            What the public database of a container may hold, likewise \
            (default: \(Self.text(Limits().containerQuota))).
            """,
            valueName: "size"
        )
    )
    var containerQuota: String?

    func validate() throws {
        for (name, text) in [("user", userQuota), ("container", containerQuota)] {
            guard let text, text != Self.unbounded else { continue }
            guard let bytes = AssetOptions.bytes(text), bytes >= 0 else {
                throw ValidationError(
                    "--\(name)-quota must be a size such as 500M or 10G, or none, not '\(text)'."
                )
            }
        }
    }

    /// Puts the options into the limits.
    func apply(to limits: inout Limits) {
        if let userQuota { limits.userQuota = AssetOptions.bytes(userQuota) }
        if let containerQuota { limits.containerQuota = AssetOptions.bytes(containerQuota) }
    }

    private static func text(_ bytes: Int64?) -> String {
        bytes.map { "\($0 >> 30)G" } ?? unbounded
    }
}
