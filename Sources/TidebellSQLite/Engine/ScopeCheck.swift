// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore
import TidebellSQL
import TidebellWire

/// Fails a step that writes outside of the scope it named: in debug builds, and so in tests.
///
/// One file would take such a write; a store of many parts could not. So it is looked at where it
/// cannot be missed: temporary triggers of the writer connection ask ``ScopeRules`` of every row.
///
/// `@unchecked Sendable`: used on the queue of the writer connection only.
final class ScopeCheck: StepScopes, @unchecked Sendable {
    /// Whether stores are checked.
    static var isOn: Bool {
        #if DEBUG
            true
        #else
            false
        #endif
    }

    /// The scope of the step that runs; nil between steps, and for the engine itself.
    private var scope: StoreScope?
    /// The account or database of the scope, once it is known: a step may make it.
    private var key: Int64?

    /// Checks a writer connection from now on.
    init(_ database: Database) throws {
        database.add(
            function: DatabaseFunction(ScopeRules.function) { values in
                self.includes(values)
            }
        )
        try attach(to: database)
    }

    /// Notes that a step begins.
    func begin(_ scope: StoreScope, in reader: some SQLReading) throws {
        self.scope = scope
        key =
            switch scope {
            case .account(let account): account?.rawValue
            case .database(let key): try reader.database(key)?.id.rawValue
            case .databaseWithID(let id): id.rawValue
            case .user(let user): user.rawValue
            case .catalogue, .store, .looking, .uses, .batch, .everything, .users: nil
            }
    }

    /// Notes that the step has ended.
    func end() { scope = nil }

    /// One process writes, one write after the other.
    var areTogether: Bool { true }
    func waitForOthers() {}

    /// Puts the triggers where they are not. All at once: GRDB forgets what it knows of the schema with each.
    func attach(to database: Database) throws {
        let present = try String.fetchSet(
            database,
            sql: "SELECT name FROM main.sqlite_schema WHERE type = 'table'"
        )
        try database.execute(
            sql: ScopeRules.tables.filter { present.contains($0.key) }
                .flatMap { table, rules in Self.events.map { trigger(table, $0, rules) } }
                .joined(separator: ";\n")
        )
    }

    private func trigger(_ table: String, _ event: String, _ rules: [String]) -> String {
        let rule = rules.joined(separator: " OR ")
            .replacing("row.", with: event == "DELETE" ? "OLD." : "NEW.")
        return """
            CREATE TEMP TRIGGER \(Self.name(table, event)) AFTER \(event) ON \(table)
            WHEN NOT (\(rule)) BEGIN
                SELECT RAISE(ABORT, 'a step wrote to "\(table)" outside of its scope');
            END
            """
    }

    /// Takes the triggers away, where tables are to be made anew.
    func detach(from database: Database) throws {
        for table in ScopeRules.tables.keys {
            for event in Self.events {
                try database.execute(
                    sql: "DROP TRIGGER IF EXISTS temp.\(Self.name(table, event))"
                )
            }
        }
    }

    private static let events = ["INSERT", "UPDATE", "DELETE"]

    private static func name(_ table: String, _ event: String) -> String {
        "scope_of_\(table)_\(event.lowercased())"
    }

    /// Whether the step may write what a rule asks about: a kind of scope, and its key.
    private func includes(_ values: [DatabaseValue]) -> Bool {
        guard let scope, let kind = values.first.flatMap(String.fromDatabaseValue) else {
            return true
        }
        let number = values.count > 1 ? Int64.fromDatabaseValue(values[1]) : nil
        let name = values.last.flatMap(String.fromDatabaseValue)
        switch (kind, scope) {
        case (_, .uses), (_, .batch), (_, .everything), ("store", .store), ("any user", .user),
            ("any user", .users),
            ("any database", .database), ("any database", .databaseWithID):
            return true
        case ("user", .users(let users)):
            return number.map { users.contains(UserID(rawValue: $0)) } ?? false
        case ("catalogue", .catalogue(let container)):
            return name == "\(container.container)\n\(container.environment.rawValue)"
        case ("user", .user), ("account", .account), ("database", .databaseWithID):
            if scope == .account(nil) { key = key ?? number }
            return number != nil && number == key
        case ("database", .database(let database)):
            // Made before what is in it.
            if key == nil, name == database.text { key = number }
            return number != nil && number == key
        default: return false
        }
    }
}

extension DatabaseKey {
    /// The key as the rule of databases has it.
    fileprivate var text: String {
        [
            container.container, container.environment.rawValue, scope.rawValue,
            "\(owner?.rawValue ?? StoredDatabase.noOwner)",
        ].joined(separator: "\n")
    }
}
