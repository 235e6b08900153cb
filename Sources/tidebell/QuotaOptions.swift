// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellServer

/// The options of `tidebell serve` about how much may be stored, short for `--limit`.
struct QuotaOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            How much one user may store in all private databases together, in bytes or with K, M \
            or G; 'none' for no limit (default: 10G).
            """,
            valueName: "size"
        )
    )
    var userQuota: String?

    @Option(
        help: ArgumentHelp(
            """
            How much the public database of a container may store, in the same units (default: 100G).
            """,
            valueName: "size"
        )
    )
    var containerQuota: String?

    @Option(
        help: ArgumentHelp(
            """
            The largest asset, in bytes or with K, M or G, at most 64G (default: 50M \
            from web clients, 250M from the CloudKit module).
            """,
            valueName: "size"
        )
    )
    var maxAssetSize: String?

    /// Puts the options into the settings.
    func apply(to settings: inout LimitSettings) throws {
        if let userQuota { try settings.set("userQuota", to: userQuota, by: "--user-quota") }
        if let containerQuota {
            try settings.set("containerQuota", to: containerQuota, by: "--container-quota")
        }
        if let maxAssetSize {
            try settings.set(
                "assetBytes", "assetBytesForExtendedClients", to: maxAssetSize,
                by: "--max-asset-size")
        }
    }
}
