// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellServer

/// `tidebell limits`.
struct LimitsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limits",
        abstract: "Print the limits that `tidebell serve --limit` sets, and their defaults."
    )

    func run() { printLine(LimitList.text) }
}
