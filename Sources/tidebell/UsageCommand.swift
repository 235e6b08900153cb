// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellCore
import TidebellWire

/// `tidebell usage`.
struct UsageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "usage",
        abstract: "Print how much users and the public databases of containers store.",
        discussion: """
            The bytes are those that `tidebell serve --user-quota` and `--container-quota` limit: \
            records with their files, where a file counts for every record that has it, and 512 \
            bytes for each custom zone.
            """
    )

    @OptionGroup var data: DataOption

    func run() async throws {
        let uses = try await data.withExistingStore { store in
            try await store.read { try StorageReport.run(in: $0) }
        }
        guard !uses.isEmpty else { return printError("Nothing has been stored yet.") }
        for entry in uses {
            let owner =
                switch entry.owner {
                case .account(let name): "user \(name)"
                case .container(let key): "container \(key.container) (\(key.environment.rawValue))"
                }
            printLine("\(owner)  \(entry.use.bytes) bytes  \(entry.use.records) records")
        }
    }
}
