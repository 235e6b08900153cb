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
        abstract: "Restore a cloud from a backup; the server must be stopped.",
        discussion: """
            Every file is verified first. A restore that fails leaves the folder unchanged. A restore that \
            was interrupted is undone by the next one, and no server starts until then. Devices notice that the \
            cloud was restored: they fetch everything again, and send what they have not sent yet.
            """
    )

    @Argument(help: "The backup: a folder that 'tidebell backup' made.", completion: .directory)
    var backup: String

    @Flag(help: "Move the present contents of the data folder into a folder inside it.")
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
                The previous contents are now in \(aside.path), with all data, tokens and keys, also of \
                users who were erased since the backup. Remove the folder when you no longer need it:

                   rm -r \(aside.path.asShellWord)

                """
            )
        }
        if outcome.manifest.isWithoutKeys {
            printLine(
                """
                This backup has no keys: its encrypted fields cannot be read any more, and if there \
                are any, the server starts only with --accept-lost-keys. Before you start it, put \
                root-key and the keys of push services back.
                """
            )
        }
        if outcome.lacksSecret {
            printLine(
                """
                The store's secret is not in this backup: the server makes a new one when it \
                starts. From then on devices have other device IDs than before. Links to files \
                that apps have now are no longer valid; apps request new ones by themselves.
                """
            )
        }
        if outcome.lacksRootKey, !outcome.manifest.isWithoutKeys {
            printLine(
                """
                The root key is not in this backup: start the server with the same root key as before \
                (--root-key-file, --root-key-command or \(RootKeySource.variable)).
                """
            )
        }
        for problem in outcome.manifest.problems where problem.severity == .damage {
            printError("Damaged already in the backup: \("\(problem)".printable)")
        }
        printLine(
            """
            Everything written after the backup is lost. The change tokens of devices have expired, \
            so devices fetch everything again; changes that they have not sent yet are kept and sent.
            The restore also brought back tokens that were signed out or revoked since the backup, old \
            passwords, and users who were disabled, removed or erased, with their data. End them \
            again: tidebell user list, user disable, user remove --erase-data, user sign-out, \
            api-token list, admin-token list.

               tidebell serve\(data.hint)\(outcome.lacksRootKey ? " --root-key-file FILE" : "")
            """
        )
    }
}
