// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellCore
import TidebellHTTP
import TidebellScheduling
import TidebellServer
import TidebellSQLite

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
            Leave out the keys of zones, the store's secret, and all files but the database, those \
            of records and tidebell.json: nobody can read encrypted fields of this backup any \
            more. Where the root key is elsewhere, it is in no backup, and this is not needed.
            """
    )
    var withoutKeys = false

    @Flag(
        help: """
            Make the backup even if records or files are damaged, or files cannot be read: \
            those are left out. A database that cannot be read to its end cannot be backed up.
            """
    )
    var despiteDamage = false

    @OptionGroup var rootKey: RootKeyLocationOptions
    @OptionGroup var data: DataOption

    func run() async throws {
        var options = Backup.Options()
        options.withoutKeys = withoutKeys
        options.despiteDamage = despiteDamage
        options.rootKey = rootKey.source
        let folder = URL(fileURLWithPath: destination, isDirectory: true)
        let made = try Backup.make(
            of: data.dataFolder, to: folder, at: Time.system.now(), options
        )
        for problem in made.problems { printError(problem.line) }
        printLine(
            """
            Made a backup of \(data.shortPath) in \(folder.path): \(made.summary).
            \(advice(on: made))

               tidebell restore \(folder.path.asShellWord) --data FOLDER
            """
        )
    }

    /// The most files that are named.
    private static let namedFiles = 5

    private func advice(on made: BackupManifest) -> String {
        var sentences: [String] = []
        if let leftOut = made.leftOut, !leftOut.isEmpty {
            let named = leftOut.prefix(Self.namedFiles).joined(separator: ", ")
            sentences.append(
                "Left out: \(counted(leftOut.count, "file or folder", "files or folders")) (\(named)"
                    + (leftOut.count > Self.namedFiles ? ", …" : "") + "). Keep what you need "
                    + "of them elsewhere."
            )
        }
        if withoutKeys {
            sentences.append(
                "The keys are not in it, nor are those of zones and the store's secret: nobody "
                    + "can read its encrypted fields any more, devices get other IDs where it is "
                    + "restored; its files need the root key."
            )
        } else {
            sentences.append("It holds secrets: keep it as safe as the data folder.")
            if made.lacksRootKey {
                sentences.append(
                    "The root key is NOT in it, since it is not in the data folder: keep that one "
                        + "safe too, elsewhere; without it nobody can read the encrypted "
                        + "fields and files of this backup."
                )
            }
        }
        if let unread = made.unreadFiles, unread > 0 {
            sentences.append(
                "The contents of \(counted(unread, "encrypted file")) were not verified, only "
                    + "their lengths: for that, name the root key with --root-key-file or "
                    + "--root-key-command."
            )
        }
        return sentences.joined(separator: "\n")
    }
}

extension BackupManifest {
    /// What is in the backup, for people.
    var summary: String {
        "\(counted(records, "record")) in \(counted(zones, "zone")), "
            + "\(counted(recordFiles, "file of records", "files of records")), \(bytes) bytes, "
            + "verified; the moment is \(made.printable)"
    }
}
