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
        abstract: "Make a backup of the cloud, also while a server runs.",
        discussion: """
            The backup is a folder with the database, the files of records, the secrets and the \
            configuration as they are at one moment. It is verified when it is made. A copy of the \
            database file alone is not a backup: the latest writes are in the file beside it that \
            ends in -wal.
            """
    )

    @Argument(help: "The folder to make; it must not exist.", completion: .directory)
    var destination: String

    @Flag(
        help: """
            Leave out the keys of zones, the store's secret, and all files except the database, those \
            of records and tidebell.json: the encrypted fields of this backup can never be read \
            again. If the root key is outside the data folder, it is not in any backup, and this \
            option is not needed.
            """
    )
    var withoutKeys = false

    @Flag(
        help: """
            Make the backup even if records or files are damaged or files cannot be read; these \
            are left out. A database that cannot be read completely cannot be backed up.
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
                    + (leftOut.count > Self.namedFiles ? ", …" : "") + "). If you need them, keep "
                    + "a copy elsewhere."
            )
        }
        if withoutKeys {
            sentences.append(
                "It contains no keys and not the store's secret: its encrypted fields can never be "
                    + "read again, devices get other IDs when it is restored, and its files need "
                    + "the root key."
            )
        } else {
            sentences.append("It contains secrets: keep it as safe as the data folder.")
            if made.lacksRootKey {
                sentences.append(
                    "The root key is NOT in it, because it is not in the data folder. Keep a copy of "
                        + "the key in another safe place: without it, the encrypted fields and "
                        + "files of this backup cannot be read."
                )
            }
        }
        if let unread = made.unreadFiles, unread > 0 {
            sentences.append(
                "The contents of \(counted(unread, "encrypted file")) were not verified, only "
                    + "their lengths. To verify them, name the root key with --root-key-file or "
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
            + "verified; made at \(made.printable)"
    }
}
