// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellServer

/// Where the key is that fields and files are encrypted with.
struct RootKeyLocationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            A file with the root key, 32 random bytes, as they are, in hexadecimal digits or in \
            Base64 (default: the variable \(RootKeySource.variable), else the file root-key in \
            the data folder, which `serve` makes at the first start).
            """,
            valueName: "file"
        ),
        completion: .file()
    )
    var rootKeyFile: String?

    @Option(
        help: ArgumentHelp(
            "A command of the shell that prints the root key.", valueName: "command"
        )
    )
    var rootKeyCommand: String?

    func validate() throws {
        guard rootKeyFile == nil || rootKeyCommand == nil else {
            throw ValidationError("Name the root key by a file or by a command, not by both.")
        }
    }

    /// Where the root key is from.
    var source: RootKeySource {
        if let rootKeyFile { return .file(URL(fileURLWithPath: rootKeyFile)) }
        if let rootKeyCommand { return .command(rootKeyCommand) }
        let variable = ProcessInfo.processInfo.environment[RootKeySource.variable]
        return variable.map(RootKeySource.text) ?? .dataFolder
    }
}

/// The options of `tidebell serve` about encryption.
struct RootKeyOptions: ParsableArguments {
    @OptionGroup var location: RootKeyLocationOptions

    @Flag(
        help: """
            Delete for good the zones and files whose keys the root key does not open, with all \
            their records and fields, encrypted or not: apps are notified that the user reset \
            their encrypted data. Make a backup first.
            """
    )
    var acceptLostKeys = false
}
