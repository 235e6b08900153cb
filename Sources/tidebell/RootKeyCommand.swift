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
        abstract: "Change the key that encrypted fields and files hang on.",
        subcommands: [Rotate.self]
    )
}

extension RootKeyCommand {
    /// `tidebell root-key rotate`.
    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change the root key for another one; no server may run.",
            discussion: """
                The keys of zones and files are wrapped by the new root key then; what they \
                encrypt stays as it is. Backups from before open with the old root key only. A \
                change that was stopped goes on when the same command is given again, and until \
                then no server starts.
                """
        )

        @OptionGroup(title: "The root key of now") var old: RootKeyLocationOptions
        @OptionGroup(title: "The root key to be") var new: NewRootKeyOptions
        @OptionGroup var data: DataOption

        func run() async throws {
            let done = try await RootKeyRotation.run(
                data.dataFolder, from: old.source, to: new.source, time: .system,
                randomness: .system)
            guard !done.wasDone else {
                return printLine("\(data.shortPath) has the root key \(done.newID) already.")
            }
            if done.madeKey, let file = new.newRootKeyFile {
                printLine("Made a root key in \(file). Keep a copy of it in another safe location.")
            }
            if done.wasBegun { printLine("Went on with a change that was stopped.") }
            let progress = done.progress
            printLine(
                """
                Changed the root key of \(data.shortPath) from \(done.oldID) to \(done.newID): \
                \(counted(progress.zones, "key of a zone", "keys of zones")), \
                \(counted(progress.files, "key of a file", "keys of files")) and \
                \(counted(progress.answers, "kept answer")) came under the new one.
                """
            )
            if progress.unopened > 0 {
                printError(
                    "\(counted(progress.unopened, "key")) could not be opened with the old root key "
                        + "and stayed as they were; 'tidebell check' names the files, and what is "
                        + "encrypted with them cannot be read, now or before."
                )
            }
            printLine(advice(after: done))
        }

        private func advice(after done: RootKeyRotation.Outcome) -> String {
            var sentences = [
                "Make a backup now. Those from before open with the old root key only: keep it as "
                    + "long as you keep them, and destroy both together."
            ]
            if let left = done.oldKeyLeft {
                sentences.append(
                    "The old root key still lies in \(left.path): move it away, or a server that is "
                        + "started without an option takes it and stops."
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
            "A file with the new root key; it is made if it is not there.", valueName: "file"
        ),
        completion: .file()
    )
    var newRootKeyFile: String?

    @Option(
        help: ArgumentHelp(
            "A command of the shell that prints the new root key.", valueName: "command"
        )
    )
    var newRootKeyCommand: String?

    func validate() throws {
        guard (newRootKeyFile == nil) != (newRootKeyCommand == nil) else {
            throw ValidationError(
                "Name the new root key by --new-root-key-file or by --new-root-key-command.")
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
