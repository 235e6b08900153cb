// SPDX-License-Identifier: Apache-2.0
import Foundation
package import TidebellCore
import TidebellHTTP
package import TidebellSQLite

/// Looks through a whole cloud, its store and its files, for what is not as it must be, and
/// changes nothing; a server may run on it.
package enum CloudCheck {
    /// How old a file must be to count as orphaned where no row names it: maintenance removes
    /// orphaned files every hour, and uploads may be on their way.
    static let orphanAge = Duration.seconds(2 * 3600)

    /// Checks the cloud of a data folder; what cannot be looked at at all fails with
    /// ``OperatorError``.
    ///
    /// - Parameter rootKey: Where the key is that opens encrypted files: their contents are
    ///   read where it is at hand.
    package static func run(
        _ data: DataFolder, rootKey: RootKeySource = .dataFolder, at now: Instant
    ) throws -> StoreFindings {
        try data.checkIsInFolder(for: "check")
        try data.checkIsNotLost()
        guard data.hasStore else {
            throw OperatorError("There is no cloud in \(data.url.path).")
        }
        do {
            // Under the lock, no file that the store names is removed meanwhile.
            let lock = try AssetFolderLock.toCopy(in: data.assets)
            defer { withExtendedLifetime(lock) {} }
            var findings = try StoreCheck.run(at: data.database.path)
            if let problem = data.secretProblem(in: findings) { findings.add(problem) }
            let known = try rootKey.knownKey(in: data.url, named: findings.rootKeyID)
            if let problem = known.problem { findings.add(problem) }
            if let key = known.key { addKeys(to: &findings, under: key, in: data) }
            addFiles(to: &findings, FileCheck(rootKey: known.key), in: data)
            // Where the database cannot list its files, none is known as orphaned.
            if findings.knowsFiles { addOrphanedFiles(to: &findings, in: data, at: now) }
            return findings
        } catch let error as StoreOpenError where error.isDamage {
            var findings = StoreFindings()
            findings.add(
                StoreProblem(
                    "the database cannot be read, bring the cloud back from a backup (tidebell "
                        + "restore BACKUP --replace\(data.option)): \(error)"
                )
            )
            return findings
        } catch let error as StoreOpenError {
            throw OperatorError(error.description)
        } catch let error as DiskError {
            throw OperatorError("The cloud cannot be looked at: \(error).")
        }
    }

    private static func addKeys(
        to findings: inout StoreFindings, under rootKey: RootKey, in data: DataFolder
    ) {
        do {
            try StoreCheck.addUnreadableKeys(
                wrappedBy: rootKey.rootKeyID, ofStoreAt: data.database.path, to: &findings
            ) { rootKey.unwrapped($0.key, of: $0.zone) != nil }
        } catch {
            findings.add(StoreProblem("the keys of zones cannot be looked at: \(error)"))
        }
    }

    private static func addFiles(
        to findings: inout StoreFindings, _ check: FileCheck, in data: DataFolder
    ) {
        let problems = findings.files.compactMap { file -> FileProblem? in
            let url = data.url.appendingPathComponent(DataFolder.keptFile(file.name))
            return check.problem(of: file, at: url).map { FileProblem(file: file, text: $0) }
        }
        for problem in FileProblem.atRecords(problems, ofStoreAt: data.database) {
            findings.add(problem)
        }
        findings.unreadFiles = findings.files.filter { !check.reads($0) }.count
    }

    private static func addOrphanedFiles(
        to findings: inout StoreFindings, in data: DataFolder, at now: Instant
    ) {
        let known = Set(findings.files.map(\.name))
        let kept = data.assets.appendingPathComponent("kept").path
        if access(kept, R_OK | X_OK) != 0, errno != ENOENT {
            findings.add(StoreProblem("\(DiskError("read \(kept)"))"))
        }
        // Without any file there is no folder yet.
        for folder in (try? FileManager.default.contentsOfDirectory(atPath: kept)) ?? [] {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: "\(kept)/\(folder)"))
                ?? [] where !known.contains(name)
            {
                let attributes = try? FileManager.default.attributesOfItem(
                    atPath: "\(kept)/\(folder)/\(name)")
                // It went meanwhile.
                guard let date = attributes?[.modificationDate] as? Date else { continue }
                let changed = Instant(rawValue: Int64(date.timeIntervalSince1970 * 1000))
                guard changed.advanced(by: orphanAge) < now else { continue }
                findings.add(
                    StoreProblem(
                        "the file \(DataFolder.keptFile(name)) belongs to no record; a server "
                            + "that runs removes it within the hour",
                        .warning
                    )
                )
            }
        }
    }
}
