// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellServer

/// Where the key is that fields and files are encrypted with.
struct RootKeyLocationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            A file with the root key: 32 random bytes, binary, in hexadecimal digits or in \
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
            "A shell command that prints the root key.", valueName: "command"
        )
    )
    var rootKeyCommand: String?

    func validate() throws {
        guard rootKeyFile == nil || rootKeyCommand == nil else {
            throw ValidationError("Use either --root-key-file or --root-key-command, not both.")
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
            Permanently delete the zones and files whose keys the root key does not decrypt, with all \
            their records and fields, encrypted or not. For apps it is as if the user had reset \
            their encrypted data. Make a backup first.
            """
    )
    var acceptLostKeys = false
}
