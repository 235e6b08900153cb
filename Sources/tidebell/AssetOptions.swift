// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellCore

/// The option of `tidebell serve` about files of records.
struct AssetOptions: ParsableArguments {
    /// The largest limit that can be asked for.
    private static let most: Int64 = 64 << 30

    @Option(
        help: ArgumentHelp(
            """
            The largest file of a record, in bytes or with K, M or G, at most 64G (default: 50M \
            from web clients, 250M from the CloudKit module).
            """,
            valueName: "size"
        )
    )
    var maxAssetSize: String?

    func validate() throws {
        guard let maxAssetSize else { return }
        guard let bytes = Self.bytes(maxAssetSize), (1...Self.most).contains(bytes) else {
            throw ValidationError(
                "--max-asset-size must be 1 to 64G, such as 20M, not '\(maxAssetSize)'."
            )
        }
    }

    /// Puts the option into the limits.
    func apply(to limits: inout Limits) {
        guard let bytes = maxAssetSize.flatMap(Self.bytes) else { return }
        limits.assetBytes = bytes
        limits.assetBytesForExtendedClients = bytes
    }

    /// Reads a number of bytes; nil for what is none.
    static func bytes(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
        let unit = text.last.flatMap { units[Character($0.uppercased())] }
        guard let count = Int64(unit == nil ? text[...] : text.dropLast()) else { return nil }
        let (bytes, overflows) = count.multipliedReportingOverflow(by: unit ?? 1)
        return overflows ? nil : bytes
    }
}
