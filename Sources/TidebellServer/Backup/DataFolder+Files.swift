// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What is in a data folder beside the database and the files of records.
extension DataFolder {
    /// Where the database is.
    var database: URL { url.appendingPathComponent(Self.databaseName) }
    /// Where the files of records are.
    var assets: URL { url.appendingPathComponent(Self.assetsName) }

    /// The secrets, wherever they are below the folder.
    static let secrets = ["\(assetsName)/key", "root-key", "first-run.txt"]
    /// How keys of other services are named that operators put there.
    private static let secretSuffixes = [".p8", ".pem", ".key"]

    /// What the paths of all kept files begin with.
    static let keptFiles = "\(assetsName)/kept/"

    /// Where a kept file of records is below the folder.
    static func keptFile(_ name: String) -> String {
        "\(keptFiles)\(name.prefix(2))/\(name)"
    }

    /// Whether a path below the folder is a secret.
    static func isSecret(_ path: String) -> Bool {
        secrets.contains(path) || secretSuffixes.contains { path.hasSuffix($0) }
    }

    /// The files that a backup takes along: secrets, and what the operator put there. Not
    /// what belongs to the running store, nor what an earlier restoring moved aside.
    func otherFiles(withoutKeys: Bool) throws -> [String] {
        let own = try FileManager.default.contentsOfDirectory(atPath: url.path).filter {
            !$0.hasPrefix(Self.databaseName) && !$0.hasPrefix(".") && !$0.hasSuffix(".new")
                && isFile($0)
        }
        let inside = Self.secrets.filter { $0.contains("/") && isFile($0) }
        return (own + inside).filter { !withoutKeys || !Self.isSecret($0) }.sorted()
    }

    private func isFile(_ path: String) -> Bool {
        var status = stat()
        guard stat(url.appendingPathComponent(path).path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFREG
    }
}
