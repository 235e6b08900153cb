// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellHTTP
import TidebellScheduling
import TidebellServer
import TidebellCore
import TidebellSQLite

/// `tidebell restore`.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Bring a cloud back from a backup; no server may run on it.",
        discussion: """
            Every file is verified first. What fails leaves the folder as it was; a restore that \
            was stopped is taken back by the next one, and no server starts before. Devices notice that the cloud comes from an earlier \
            moment: they fetch everything anew, and send what they have not sent yet.
            """
    )

    @Argument(help: "The backup: a folder that 'tidebell backup' made.", completion: .directory)
    var backup: String

    @Flag(help: "Move what is in the data folder aside, into a folder inside of it.")
    var replace = false

    @OptionGroup var data: DataOption

    func run() async throws {
        let outcome = try await Restoring.run(
            URL(fileURLWithPath: backup, isDirectory: true), to: data.dataFolder,
            replacing: replace, at: Time.system.now(), reporting: { printError($0) }
        )
        printLine("Restored \(data.shortPath): \(outcome.manifest.summary).")
        if let aside = outcome.movedAside {
            printLine(
                """
                What was there is in \(aside.path) now, with its data, tokens and keys, also of \
                people who were erased since the backup. Remove it when you need it no more:

                   rm -r \(aside.path.asShellWord)

                """
            )
        }
        if outcome.manifest.isWithoutKeys {
            printLine(
                """
                The keys were left out of this backup, and those of zones: encrypted fields \
                cannot be read any more, and the server starts only with --accept-lost-keys where \
                there are any. Put root-key and the keys of push services back before you start \
                it.
                """
            )
        }
        if outcome.lacksSecret {
            printLine(
                """
                The secret of the store is not in this backup: the server makes another one when \
                it starts. What devices write from then on has other device IDs than before, and \
                links to files that apps hold now are not valid any more; apps ask for others by \
                themselves.
                """
            )
        }
        if outcome.lacksRootKey, !outcome.manifest.isWithoutKeys {
            printLine(
                """
                The root key is not in this backup: start the server with the one it had \
                (--root-key-file, --root-key-command or \(RootKeySource.variable)).
                """
            )
        }
        for problem in outcome.manifest.problems where problem.severity == .damage {
            printError("Damaged before: \("\(problem)".printable)")
        }
        printLine(
            """
            What was written after that moment is gone. Devices find their sync tokens expired \
            and fetch everything anew; changes they have not sent yet stay and are sent.
            What ended since then is back: tokens that were signed out or revoked, old passwords, \
            users who were disabled, removed or erased, with all they had stored. End them once \
            more: tidebell user list, user disable, user remove --erase-data, user sign-out, \
            api-token list, admin-token list.

               tidebell serve\(data.hint)\(outcome.lacksRootKey ? " --root-key-file FILE" : "")
            """
        )
    }
}
