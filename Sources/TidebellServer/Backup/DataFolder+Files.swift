// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What is in a data folder beside the database and the files of records.
extension DataFolder {
    /// Where the database is.
    var database: URL { url.appendingPathComponent(Self.databaseName) }
    /// Where the files of records are.
    var assets: URL { url.appendingPathComponent(Self.assetsName) }

    /// The files beside the database and those of records that are Tidebell's and hold no
    /// secret. All others are secrets, or the operator's own, of which nobody knows what they
    /// are.
    private static let plain: Set = [ServerConfiguration.fileName]
    /// The secrets that are not at the top of the folder.
    private static let secretsInside = [olderKeyName]

    /// Whether a backup may hold something of this name: not what belongs to a running store,
    /// nor what restoring makes.
    static func mayHold(_ name: String) -> Bool {
        name == databaseName
            || !name.hasPrefix(databaseName) && !name.hasPrefix(".")
                && !name.hasPrefix(Restoring.asidePrefix)
    }

    /// What the paths of all kept files begin with.
    static let keptFiles = "\(assetsName)/kept/"

    /// Where a kept file of records is below the folder.
    static func keptFile(_ name: String) -> String {
        "\(keptFiles)\(name.prefix(2))/\(name)"
    }

    /// The files that a backup takes along beside the database and the files of records, and
    /// those it leaves out.
    ///
    /// A whole backup takes secrets and what the operator put there, so that the server that
    /// is restored finds it. One without keys takes what Tidebell knows to be none. Neither has
    /// hidden and unfinished files, folders, nor what an earlier restoring moved aside: all are
    /// named as left out, but not what belongs to the running store.
    func otherFiles(withoutKeys: Bool) throws -> (taken: [String], leftOut: [String]) {
        let own = try FileManager.default.contentsOfDirectory(atPath: url.path).filter {
            $0 != Self.assetsName && !Self.ofStore.contains($0)
        }
        let all = own + Self.secretsInside.filter { isFile($0) }
        let taken = all.filter {
            Self.mayHold($0) && !$0.hasSuffix(".new") && isFile($0)
                && (!withoutKeys || Self.plain.contains($0))
        }
        return (taken.sorted(), Set(all).subtracting(taken).sorted())
    }

    /// The database and what belongs to it while it is used.
    private static let ofStore = Set(
        ["", "-wal", "-shm", "-journal", "-server"].map { databaseName + $0 })

    /// Whether a path that need not exist lies in the folder, or in that of the files, by
    /// whatever links they are reached.
    func holds(_ path: URL) -> Bool {
        let parent = Self.real(path.deletingLastPathComponent().path)
        return [url.path, assets.path].map(Self.real).contains { folder in
            parent == folder || parent.hasPrefix(folder + "/")
        }
    }

    /// The path without links; as it is where there is nothing.
    private static func real(_ path: String) -> String {
        guard let real = realpath(path, nil) else {
            return URL(fileURLWithPath: path).standardizedFileURL.path
        }
        defer { free(real) }
        return String(cString: real)
    }

    private func isFile(_ path: String) -> Bool {
        FileStatus(url.appendingPathComponent(path).path)?.kind == .file
    }
}
