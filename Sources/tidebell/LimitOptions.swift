// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellServer

/// The option of `tidebell serve` that sets any limit by its name; others are short for it.
struct LimitOptions: ParsableArguments {
    @Option(
        name: .customLong("limit"),
        help: ArgumentHelp(
            """
            Set a limit by the name that an error or the metric tidebell.refusals shows, such as \
            zonesPerDatabase=500. May be given several times. `tidebell limits` lists all limits.
            """,
            valueName: "name=value"
        )
    )
    var limits: [String] = []

    /// Puts the options into the settings.
    func apply(to settings: inout LimitSettings) throws {
        for limit in limits { try settings.set(limit) }
    }
}
