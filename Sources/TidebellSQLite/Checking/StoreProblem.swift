// SPDX-License-Identifier: Apache-2.0

/// Something that is not as it must be in a store or among its files, and where.
package struct StoreProblem: Sendable, Hashable, Codable, CustomStringConvertible {
    /// What is wrong, without a capital and without an end.
    package var problem: String
    package var severity = Severity.damage
    package var container: String?
    package var environment: String?
    /// public, private or shared.
    package var database: String?
    /// The record name of the database's owner; nil for a public one.
    package var owner: String?
    package var zone: String?
    package var record: String?

    /// How bad a problem is.
    package enum Severity: String, Sendable, Hashable, Codable {
        /// Something is lost, or not what was written. A check fails, and a backup is refused.
        case damage
        /// Nothing is lost that was not given up; something is left to do, which the problem
        /// names.
        case warning
    }

    /// Creates a problem of the store as a whole.
    package init(_ problem: String, _ severity: Severity = .damage) {
        self.problem = problem
        self.severity = severity
    }

    /// Reads a problem; those of older versions are all damage.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        problem = try values.decode(String.self, forKey: .problem)
        severity = try values.decodeIfPresent(Severity.self, forKey: .severity) ?? .damage
        container = try values.decodeIfPresent(String.self, forKey: .container)
        environment = try values.decodeIfPresent(String.self, forKey: .environment)
        database = try values.decodeIfPresent(String.self, forKey: .database)
        owner = try values.decodeIfPresent(String.self, forKey: .owner)
        zone = try values.decodeIfPresent(String.self, forKey: .zone)
        record = try values.decodeIfPresent(String.self, forKey: .record)
    }

    /// The problem as a line that begins with how bad it is.
    package var line: String {
        (severity == .damage ? "Damaged: " : "Warning: ") + description
    }

    /// The location from the container down to the record, and the problem.
    package var description: String {
        location.isEmpty ? problem : "\(location): \(problem)"
    }

    /// Where it is, from the container down to the record; empty for the store as a whole.
    package var location: String {
        let scope = [database, owner].compactMap(\.self).joined(separator: " of ")
        return [container, environment, scope.isEmpty ? nil : scope, zone, record]
            .compactMap(\.self).joined(separator: "/")
    }
}

/// What a check found, and what it looked at.
package struct StoreFindings: Sendable {
    /// What is wrong, at most ``StoreCheck/mostProblems``: warnings only where damage leaves room.
    package private(set) var problems: [StoreProblem] = []
    /// How many damages there are, also of those that are not listed.
    package private(set) var damages = 0
    /// How many warnings there are, also of those that are not listed.
    package private(set) var warnings = 0
    package var identity: UInt64 = 0
    package var incarnation: Int64 = 0
    package var schemaVersion = 0
    package var databases = 0
    package var zones = 0
    /// Those that live.
    package var records = 0
    /// What identifies the root key that the store works with; nil before the first.
    package var rootKeyID: String?
    /// Whether the store has its secret.
    package var hasSecret = false
    /// The files that the store names.
    package var files: [StoredFile] = []
    /// Whether ``files`` are all of them: the table could be read.
    package var knowsFiles = false
    /// Encrypted files of which only the length was looked at, for want of the root key.
    package var unreadFiles = 0

    /// Whether any problem is damage.
    package var isDamaged: Bool { damages > 0 }
    /// Whether there are more problems than are listed.
    package var hasMore: Bool { damages + warnings > problems.count }

    /// Creates findings of nothing yet.
    package init() {}

    /// A file of records as the store knows it.
    package struct StoredFile: Sendable, Hashable {
        package var name: String
        package var bytes: Int64
        /// The SHA-256 of its content in hexadecimal digits.
        package var content: String
        /// The key it is encrypted with on the disk, wrapped by the root key; nil where it
        /// is not encrypted.
        package var key: [UInt8]?
        /// What identifies that root key; nil for the store's.
        package var rootKeyID: String?
    }

    /// Adds a problem.
    package mutating func add(_ problem: StoreProblem) {
        count(problem)
        list(problem)
    }

    /// Counts a problem that is listed later, if at all.
    mutating func count(_ problem: StoreProblem) {
        switch problem.severity {
        case .damage: damages += 1
        case .warning: warnings += 1
        }
    }

    /// Lists a problem that is counted, up to the bound; beyond it damage replaces
    /// warnings.
    mutating func list(_ problem: StoreProblem) {
        if problems.count >= StoreCheck.mostProblems {
            guard problem.severity == .damage,
                let warning = problems.lastIndex(where: { $0.severity == .warning })
            else { return }
            problems.remove(at: warning)
        }
        problems.append(problem)
    }
}
