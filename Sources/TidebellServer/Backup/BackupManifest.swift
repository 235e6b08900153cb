// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore
package import TidebellSQLite

/// The description of a backup, in its file `manifest.json`.
package struct BackupManifest: Sendable, Hashable, Codable {
    /// The file of the backup that holds this.
    package static let fileName = "manifest.json"
    /// The format this code writes, and the newest it reads.
    static let format = 1
    /// The most bytes of a manifest that is read: about four million files.
    private static let fileLimit = 1 << 29

    /// The format of the folder.
    package var format = BackupManifest.format
    /// When the copying began: milliseconds since 1970. What was written before is in it.
    package var madeAt: Int64
    /// The same moment as a text for people.
    package var made: String
    /// The store's identity in hexadecimal digits.
    package var identity: String
    /// Which life of the store it was.
    package var incarnation: Int64
    /// The version of the store's tables.
    package var schemaVersion: Int
    package var databases: Int
    package var zones: Int
    package var records: Int
    /// What distinguishes the root key that encrypted fields and files need from others; nil where
    /// none is needed, or for a backup that does not state it.
    package var rootKeyID: String?
    /// Whether the root key in the backup is that one; nil in older backups, which may hold
    /// another.
    package var hasRootKey: Bool?
    /// Encrypted files of which only the length was verified; nil in older backups.
    package var unreadFiles: Int?
    /// Whether the secrets beside the database were left out.
    package var isWithoutKeys: Bool
    /// Files and folders at the top of the data folder, and secrets, that were left out; nil
    /// for a backup that does not state them, as older whole ones.
    package var leftOut: [String]?
    /// What was damaged already when the backup was made, and what was left to do.
    package var problems: [StoreProblem]
    /// All other files of the backup.
    package var files: [File]

    /// A file of a backup.
    package struct File: Sendable, Hashable, Codable {
        /// The path below the backup, as below the data folder.
        package var path: String
        package var bytes: Int64
        /// In hexadecimal digits.
        package var sha256: String
    }

    /// Whether what is encrypted needs a root key that is not in the backup.
    package var lacksRootKey: Bool {
        rootKeyID != nil
            && !(hasRootKey ?? files.contains { $0.path == DataFolder.rootKeyName })
    }

    /// How many of the files are files of records.
    package var recordFiles: Int {
        files.filter { $0.path.hasPrefix(DataFolder.keptFiles) }.count
    }

    /// The bytes of all files.
    package var bytes: Int64 { files.reduce(0) { $0 + $1.bytes } }

    /// Writes the manifest into the folder of a backup.
    func write(to folder: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try DurableFile.write([UInt8](try encoder.encode(self)), to: Self.location(in: folder))
    }

    /// Reads the manifest of a backup, and checks that its paths stay inside of it.
    static func read(from folder: URL) throws -> BackupManifest {
        let location = location(in: folder)
        guard DurableFile.isFile(location), let file = try? FileHandle(forReadingFrom: location),
            let data = try? file.read(upToCount: fileLimit)
        else {
            guard access(location.path, R_OK) == 0 || errno != EACCES else {
                throw OperatorError("The backup \(folder.path) may not be read by this user.")
            }
            throw OperatorError("\(folder.path) is not a backup: it has no \(fileName).")
        }
        let decoder = JSONDecoder()
        if let known = try? decoder.decode(Format.self, from: data), known.format > format {
            throw OperatorError(
                "The backup \(folder.path) has format \(known.format); this Tidebell knows only "
                    + "up to \(format). Restore it with the newer Tidebell that made it."
            )
        }
        guard let manifest = try? decoder.decode(BackupManifest.self, from: data),
            manifest.format == format
        else {
            throw OperatorError("The backup \(folder.path) is damaged: its \(fileName) is.")
        }
        for file in manifest.files {
            let names = file.path.split(separator: "/", omittingEmptySubsequences: false)
            let leadsOut = names.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." })
            guard !leadsOut, DataFolder.mayHold(String(names[0])) else {
                throw OperatorError(
                    "The backup \(folder.path) is damaged: its \(fileName) names "
                        + "'\(file.path.printable)'."
                )
            }
        }
        return manifest
    }

    private struct Format: Codable {
        var format: Int
    }

    private static func location(in folder: URL) -> URL { folder.appendingPathComponent(fileName) }
}
