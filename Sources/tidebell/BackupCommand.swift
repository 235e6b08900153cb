// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellHTTP
import TidebellServer

/// `tidebell backup`.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Make a backup of the cloud, also while it is served.",
        discussion: """
            The backup is a folder with the database, the files of records, the secrets and the \
            configuration of one moment, verified when it is made. A copy of the database file \
            alone is none: what was written last is in the file beside it that ends in -wal.
            """
    )

    @Argument(help: "The folder to make; it must not exist.", completion: .directory)
    var destination: String

    @Flag(
        help: """
            Leave out the keys (root-key, assets/key and files that end in .p8, .pem or .key); \
            keep those elsewhere, or what is encrypted is lost with them.
            """
    )
    var withoutKeys = false

    @Flag(help: "Make the backup even if the cloud is damaged.")
    var despiteDamage = false

    @OptionGroup var data: DataOption

    func run() async throws {
        var options = Backup.Options()
        options.withoutKeys = withoutKeys
        options.despiteDamage = despiteDamage
        let folder = URL(fileURLWithPath: destination, isDirectory: true)
        let made = try Backup.make(
            of: DataFolder(data.folder), to: folder, at: Time.system.now(), options
        )
        for problem in made.problems { complain("Damaged: \(problem)") }
        let advice =
            withoutKeys
            ? "The keys are not in it." : "It holds secrets: keep it as safe as the data folder."
        say(
            """
            Made a backup of \(data.shortPath) in \(folder.path): \(made.summary).
            \(advice)

               tidebell restore \(folder.path) --data FOLDER
            """
        )
    }
}

extension BackupManifest {
    /// What is in the backup, for people.
    var summary: String {
        "\(records) records in \(zones) zones, \(files.count) files, \(bytes) bytes, verified; "
            + "the moment is \(made)"
    }
}
