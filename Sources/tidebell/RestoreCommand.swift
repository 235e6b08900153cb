// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellHTTP
import TidebellServer

/// `tidebell restore`.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Bring a cloud back from a backup; no server may run on it.",
        discussion: """
            Every file is verified first. Devices notice that the cloud comes from an earlier \
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
            URL(fileURLWithPath: backup, isDirectory: true), to: DataFolder(data.folder),
            replacing: replace, at: Time.system.now()
        )
        say("Restored \(data.shortPath): \(outcome.manifest.summary).")
        if let aside = outcome.movedAside { say("What was there is in \(aside.path) now.") }
        if outcome.manifest.isWithoutKeys {
            say(
                """
                The keys were left out of this backup: put root-key and the keys of push services \
                back before you start the server. Links to files that apps hold now are not valid \
                any more; apps ask for others by themselves.
                """
            )
        }
        for problem in outcome.manifest.problems { complain("Damaged before: \(problem)") }
        say(
            """
            What was written after that moment is gone. Devices find their sync tokens expired \
            and fetch everything anew; changes they have not sent yet stay and are sent. Tokens \
            that were signed out since then are valid again: sign them out once more.

               tidebell serve\(data.hint)
            """
        )
    }
}
