// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TidebellCore
import TidebellSQL
import TidebellWire

/// Looks through a whole store for what is not as it must be, at one moment of it, and
/// changes nothing; a server may write meanwhile.
package struct StoreCheck {
    /// The most problems that are listed.
    package static let mostProblems = 1000

    let connection: Connection
    var findings = StoreFindings()
    /// Problems whose zone is still to be named, by its key; of each severity as many as can
    /// be listed.
    private var unnamed: [StoreProblem.Severity: [(zone: Int64, problem: StoreProblem)]] = [:]

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Checks the store at `path`, which must be one.
    ///
    /// - Parameter olderToo: Whether a store of a version before the frozen tables is looked at
    ///   as far as that can be; otherwise it is refused.
    package static func run(at path: String, olderToo: Bool = false) throws -> StoreFindings {
        guard FileManager.default.fileExists(atPath: path) else {
            throw StoreOpenError.unwritable(path: path, reason: "there is no such file")
        }
        do {
            let queue = try SQLiteStore.queueThatOnlyReads(path)
            defer { try? queue.close() }
            return try queue.inDatabase { database in
                try database.execute(sql: "BEGIN DEFERRED")
                // NB: SQLite does not commit what met damage, not even when it only read.
                defer { try? database.execute(sql: "ROLLBACK") }
                guard
                    try Int.fetchOne(database, sql: "PRAGMA application_id")
                        == Schema.applicationID
                else { throw StoreOpenError.notADatabase(path: path) }
                let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
                let isFrozen = version >= Schema.frozenVersion
                guard version <= Schema.version, isFrozen || olderToo else {
                    throw StoreOpenError.otherSchema(
                        path: path, version: version, supported: Schema.version)
                }
                var check = StoreCheck(Connection(database))
                check.findings.schemaVersion = version
                return isFrozen ? check.all() : check.older()
            }
        } catch let error as StoreOpenError {
            throw error
        } catch {
            throw StoreOpenError(error, path: path)
        }
    }

    private mutating func all() -> StoreFindings {
        attempt("the pages of the file") { try $0.checkPages() }
        let areSound = !findings.isDamaged
        attempt("the tables") { check in try check.add(check.schemaProblems()) }
        attempt("the numbers of the store") { check in
            try check.readNumbers()
            try check.add(check.numberProblems())
        }
        for var rule in StoreRule.all where findings.schemaVersion >= rule.sinceVersion {
            if !areSound, let problem = rule.problemAmongDamage { rule.problem = problem }
            attempt(rule.problem) { try $0.apply(rule) }
        }
        attempt("the records") { try $0.checkRecords() }
        attempt("the indexes of records") { try $0.checkIndexes() }
        attempt("the pending changes") { try $0.checkOutbox() }
        attempt("the subscriptions") { try $0.checkSubscriptions() }
        attempt("the files of records") { check in
            try check.readFiles()
            try check.add(check.nameProblems())
        }
        attempt("the names of zones") { try $0.nameZones() }
        return findings
    }

    /// What can be looked at before the tables are migrated.
    private mutating func older() -> StoreFindings {
        attempt("the pages of the file") { try $0.checkPages() }
        attempt("the numbers of the store") { check in
            let identity = try check.connection.first("SELECT identity FROM store") { $0.int(0) }
            check.findings.identity = UInt64(bitPattern: identity ?? 0)
        }
        attempt("the files of records") { check in
            let hasFiles = try check.connection.first(
                "SELECT 1 FROM sqlite_schema WHERE name = 'asset'"
            ) { _ in true }
            if hasFiles != nil { try check.readFiles() }
            check.findings.knowsFiles = true
        }
        return findings
    }

    /// Goes on after a table that cannot be read: what is wrong with the others is to be
    /// known as well.
    private mutating func attempt(_ part: String, _ body: (inout StoreCheck) throws -> Void) {
        do {
            try body(&self)
        } catch DatabaseError.SQLITE_CORRUPT {
            findings.add(StoreProblem("\(part): cannot be looked at, because pages are damaged"))
        } catch {
            findings.add(StoreProblem("\(part): cannot be looked at: \(error)"))
        }
    }

    private mutating func readNumbers() throws {
        let numbers = try connection.first(
            "SELECT identity, incarnation, root_key FROM store"
        ) {
            ($0.int(0), $0.int(1), $0.optionalText(2))
        }
        guard let numbers else { return findings.add(StoreProblem("the identity is missing")) }
        findings.identity = UInt64(bitPattern: numbers.0)
        findings.incarnation = numbers.1
        findings.rootKeyID = numbers.2
        try addKeys()
        let counts = try connection.first(
            """
            SELECT (SELECT count(*) FROM database),
                (SELECT count(*) FROM zone WHERE deletion IS NULL)
            """
        ) { (Int($0.int(0)), Int($0.int(1))) }
        (findings.databases, findings.zones) = counts ?? (0, 0)
    }

    /// What the store has about its keys, as far as its version keeps it.
    private mutating func addKeys() throws {
        let reader = SQLReader(connection, .short)
        // Versions before 8 kept the secret elsewhere, those before 9 had one root key for good.
        let version = findings.schemaVersion
        if version >= 8 { findings.hasSecret = try reader.storeSecret() != nil }
        guard version >= 9, try reader.nextRootKeyID() != nil else { return }
        findings.add(
            StoreProblem(
                "a change of the root key was stopped before its end: give the command that "
                    + "began it (tidebell root-key rotate) once more, no server starts before",
                .warning
            )
        )
    }

    private mutating func apply(_ rule: StoreRule) throws {
        try connection.each(rule.sql) { columns in
            var problem = StoreProblem(rule.problem, rule.severity)
            if let detail = columns.optionalText(2) { problem.problem += " (\(detail))" }
            problem.record = columns.optionalText(1)
            if let zone = columns.optionalInt(0) {
                add(problem, zone: zone)
            } else {
                findings.add(problem)
            }
            return true
        }
    }

    /// Whether every change that is pending, or is kept, can be read.
    private mutating func checkOutbox() throws {
        try connection.each(
            """
            SELECT outbox.id, event, zone_name, container, environment, scope,
                (SELECT record_name FROM user WHERE user.id = database.owner)
            FROM outbox LEFT JOIN database ON database.id = outbox.database
            """
        ) { columns in
            guard (try? OutboxEntry.Event(encoded: columns.bytes(1))) == nil else { return true }
            var problem = StoreProblem(
                "a pending change is damaged (entry \(columns.int(0))); it goes by itself "
                    + "after \(OutboxEntry.setAsideRetention.components.seconds / 86_400) days"
            )
            problem.zone = columns.text(2)
            problem.container = columns.optionalText(3)
            problem.environment = columns.optionalText(4)
            problem.database = columns.optionalText(5)
            problem.owner = columns.optionalText(6)
            findings.add(problem)
            return true
        }
    }

    /// Whether every subscription can be read.
    private mutating func checkSubscriptions() throws {
        try connection.each(
            """
            SELECT json, subscription_id, container, environment, scope,
                (SELECT record_name FROM user WHERE user.id = subscription.user), serial, term
            FROM subscription LEFT JOIN database ON database.id = subscription.database
            """
        ) { columns in
            let problem: String
            if let stored = StoredSubscription(readable: columns.bytes(0)) {
                guard
                    try !isFiled(
                        stored, under: SubscriptionTerm(rawValue: columns.text(7)), columns.int(6))
                else {
                    return true
                }
                problem = "changes may not find the subscription; save it anew"
            } else {
                problem = "the subscription is damaged"
            }
            var found = StoreProblem("\(problem) (\(columns.text(1)))")
            found.container = columns.optionalText(2)
            found.environment = columns.optionalText(3)
            found.database = columns.optionalText(4)
            found.owner = columns.optionalText(5)
            findings.add(found)
            return true
        }
    }

    /// Whether a subscription stands where changes that fire it look: under all of its terms, or under
    /// those of an older version, which chose another one, or none.
    private func isFiled(
        _ stored: StoredSubscription, under first: SubscriptionTerm, _ serial: Int64
    ) throws -> Bool {
        // An older version has no further ones.
        guard try connection.hasTable("subscription_term"), first != .none else {
            return true
        }
        let further = Set(
            try connection.rows("SELECT term FROM subscription_term WHERE serial = ?", serial) {
                SubscriptionTerm(rawValue: $0.text(0))
            })
        let terms = stored.keys.terms
        return further.isEmpty && first != terms.first
            || further.union([first]).isSuperset(of: terms)
    }

    private mutating func readFiles() throws {
        // Versions before 4 encrypted no files, those before 9 had one root key.
        let columns = Set(
            try connection.rows("SELECT name FROM pragma_table_info('asset')") { $0.text(0) })
        let key = columns.contains("key") ? "key" : "NULL"
        let rootKey = columns.contains("root_key") ? "root_key" : "NULL"
        findings.files = try connection.rows(
            "SELECT file, size, content, \(key), \(rootKey) FROM asset ORDER BY file"
        ) {
            StoreFindings.StoredFile(
                name: $0.text(0), bytes: $0.int(1), content: $0.text(2), key: $0.optionalBytes(3),
                rootKeyID: $0.optionalText(4)
            )
        }.filter { StoredAsset.isPlainName($0.name) }
        findings.knowsFiles = true
    }

    private mutating func add(_ problems: [StoreProblem]) {
        for problem in problems { findings.add(problem) }
    }

    /// Counts a problem, and notes it where it can be listed; its zone is named at the end.
    mutating func add(_ problem: StoreProblem, zone: Int64) {
        findings.count(problem)
        guard unnamed[problem.severity, default: []].count < Self.mostProblems else { return }
        unnamed[problem.severity, default: []].append((zone, problem))
    }

    private mutating func nameZones() throws {
        var locations: [Int64: StoreProblem] = [:]
        for (zone, problem) in unnamed[.damage, default: []] + unnamed[.warning, default: []] {
            var problem = problem
            let known = try locations[zone] ?? location(of: zone)
            locations[zone] = known
            problem.container = known.container
            problem.environment = known.environment
            problem.database = known.database
            problem.owner = known.owner
            problem.zone = known.zone
            findings.list(problem)
        }
    }

    func location(of zone: Int64) throws -> StoreProblem {
        var location = StoreProblem("")
        location.zone = "zone \(zone)"
        try connection.each(
            """
            SELECT zone.name, container, environment, scope,
                (SELECT record_name FROM user WHERE user.id = database.owner)
            FROM zone LEFT JOIN database ON database.id = zone.database WHERE zone.key = ?
            """,
            zone
        ) { columns in
            location.zone = columns.text(0)
            location.container = columns.optionalText(1)
            location.environment = columns.optionalText(2)
            location.database = columns.optionalText(3)
            location.owner = columns.optionalText(4)
            return true
        }
        return location
    }
}
