// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellScheduling
import TidebellServer
import TidebellCore

/// `tidebell root-key`.
struct RootKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "root-key",
        abstract: "Change the root key, which protects encrypted fields and files.",
        subcommands: [Rotate.self]
    )
}

extension RootKeyCommand {
    /// `tidebell root-key rotate`.
    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replace the root key by another one; the server must be stopped.",
            discussion: """
                The keys of zones and files are encrypted with the new root key; the data that they \
                encrypt is not changed. Older backups need the old root key. If the command is \
                interrupted, run it again with the same options to continue; until then no server \
                starts.
                """
        )

        @OptionGroup(title: "The current root key") var old: RootKeyLocationOptions
        @OptionGroup(title: "The new root key") var new: NewRootKeyOptions
        @OptionGroup var data: DataOption

        func run() async throws {
            let done = try await RootKeyRotation.run(
                data.dataFolder, from: old.source, to: new.source, time: .system,
                randomness: .system)
            guard !done.wasDone else {
                return printLine("\(data.place) has the root key \(done.newID) already.")
            }
            if done.madeKey, let file = new.newRootKeyFile {
                printLine("Made a root key in \(file). Keep a copy of it in another safe location.")
            }
            if done.wasBegun { printLine("Continued a change that was interrupted.") }
            let progress = done.progress
            printLine(
                """
                Changed the root key of \(data.place) from \(done.oldID) to \(done.newID): \
                \(counted(progress.zones, "key of a zone", "keys of zones")), \
                \(counted(progress.files, "key of a file", "keys of files")) and \
                \(counted(progress.answers, "kept answer")) are now encrypted with the new one.
                """
            )
            if progress.unopened > 0 {
                printError(
                    "\(counted(progress.unopened, "key")) could not be opened with the old root key "
                        + "and were not changed. What is encrypted with them cannot be read, as before"
                        + (data.hasDatabase ? "." : "; 'tidebell check' names the files.")
                )
            }
            printLine(advice(after: done))
        }

        private func advice(after done: RootKeyRotation.Outcome) -> String {
            var sentences = [
                "Make a backup now. Older backups need the old root key: keep it as "
                    + "long as you keep them, and destroy both together."
            ]
            if let left = done.oldKeyLeft {
                sentences.append(
                    "The old root key is still in \(left.path). Move it away: a server that is "
                        + "started without an option for the root key uses it and fails to start."
                )
            }
            return sentences.joined(separator: "\n")
                + "\n\n   tidebell serve\(data.hint)\(new.option)"
        }
    }
}

/// Where the root key is from that a cloud gets.
struct NewRootKeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file with the new root key; it is made if it does not exist.", valueName: "file"
        ),
        completion: .file()
    )
    var newRootKeyFile: String?

    @Option(
        help: ArgumentHelp(
            "A shell command that prints the new root key.", valueName: "command"
        )
    )
    var newRootKeyCommand: String?

    func validate() throws {
        guard (newRootKeyFile == nil) != (newRootKeyCommand == nil) else {
            throw ValidationError(
                "Use either --new-root-key-file or --new-root-key-command.")
        }
    }

    /// Where the new root key is from.
    var source: RootKeySource {
        newRootKeyCommand.map(RootKeySource.command)
            ?? .file(URL(fileURLWithPath: newRootKeyFile ?? ""))
    }

    /// The option of `tidebell serve` that names it.
    var option: String {
        newRootKeyCommand.map { " --root-key-command \($0.asShellWord)" }
            ?? " --root-key-file \((newRootKeyFile ?? "").asShellWord)"
    }
}
