// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Telling a new folder from one that lost its database: the second must not begin a cloud
/// anew, beside files and devices of the old one.
extension DataFolder {
    /// What belongs to a cloud, and is there, though the database is missing or empty.
    private var remains: [String] {
        var found = ["\(Self.databaseName)-wal", "\(Self.assetsName)/key"].filter {
            (size(of: $0) ?? 0) > 0
        }
        let kept = url.appendingPathComponent("\(Self.assetsName)/kept")
        // A folder that is not there holds nothing.
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: kept.path)) ?? []
        if !folders.isEmpty { found.append("\(Self.assetsName)/kept") }
        // NB: a first start that was killed leaves an empty database beside this one.
        let lock = "\(Self.databaseName)-server"
        if size(of: Self.databaseName) == nil, size(of: lock) != nil { found.append(lock) }
        return found
    }

    /// Whether there is a database with something in it.
    package var hasStore: Bool { (size(of: Self.databaseName) ?? 0) > 0 }

    /// Fails where the database is missing or empty and other files of a cloud are not.
    package func checkIsNotLost() throws {
        guard !hasStore else { return }
        let remains = remains
        guard !remains.isEmpty else { return }
        let state = size(of: Self.databaseName) == nil ? "missing" : "empty"
        throw OperatorError(
            "The folder \(url.path) holds files of a cloud (\(remains.joined(separator: ", "))), "
                + "but its database \(Self.databaseName) is \(state). Bring it back from a backup "
                + "(tidebell restore BACKUP --replace), or move the folder away to begin a new "
                + "cloud."
        )
    }

    /// The bytes of a file of the folder; nil if there is none.
    func size(of name: String) -> Int64? {
        var status = stat()
        guard stat(url.appendingPathComponent(name).path, &status) == 0 else { return nil }
        return Int64(status.st_size)
    }
}
