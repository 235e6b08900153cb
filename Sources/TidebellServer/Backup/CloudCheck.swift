// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore
import TidebellSQLite

/// Looks through a whole cloud, its store and its files, for what is not as it must be, and
/// changes nothing; a server may run on it.
package enum CloudCheck {
    /// How old a file must be that no row names: maintenance removes strays every hour, and
    /// uploads may be on their way.
    static let strayAge = Duration.seconds(2 * 3600)

    /// Checks the cloud of a data folder; what cannot be looked at at all fails with
    /// ``OperatorError``.
    package static func run(_ data: DataFolder, at now: Instant) throws -> StoreFindings {
        try data.checkIsNotLost()
        guard data.hasStore else {
            throw OperatorError("There is no cloud in \(data.url.path).")
        }
        do {
            // Nothing that the store names goes meanwhile.
            let lock = try AssetFolderLock.toCopy(in: data.assets)
            defer { withExtendedLifetime(lock) {} }
            var findings = try StoreCheck.run(at: data.database.path)
            for file in findings.files {
                guard let problem = try problem(of: file, in: data) else { continue }
                findings.add(
                    StoreProblem("the file \(DataFolder.keptFile(file.name)) \(problem)")
                )
            }
            try addStrays(to: &findings, in: data, at: now)
            return findings
        } catch let error as StoreOpenError {
            throw OperatorError(error.description)
        } catch let error as DiskError {
            throw OperatorError("The cloud cannot be looked at: \(error).")
        }
    }

    private static func problem(
        of file: StoreFindings.StoredFile, in data: DataFolder
    ) throws -> String? {
        let url = data.url.appendingPathComponent(DataFolder.keptFile(file.name))
        do {
            guard let digest = try DurableFile.digest(of: url) else { return "is missing" }
            return file.problem(with: digest)
        } catch let error as DiskError {
            return "cannot be read: \(error)"
        }
    }

    private static func addStrays(
        to findings: inout StoreFindings, in data: DataFolder, at now: Instant
    ) throws {
        let known = Set(findings.files.map(\.name))
        let kept = data.assets.appendingPathComponent("kept").path
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
                guard changed.advanced(by: strayAge) < now else { continue }
                findings.add(
                    StoreProblem("the file \(DataFolder.keptFile(name)) belongs to no record")
                )
            }
        }
    }
}
