// SPDX-License-Identifier: Apache-2.0

/// Which statements a connection has prepared; when there are too many, the one that was not
/// used for longest goes.
struct StatementCache {
    /// What a statement was prepared from.
    struct Key: Hashable {
        var sql: String
        var types: [UInt32]
    }

    private struct Prepared {
        var name: String
        var lastUse: UInt64
    }

    let limit: Int
    private var statements: [Key: Prepared] = [:]
    private var uses: UInt64 = 0
    private var made: UInt64 = 0

    init(limit: Int) { self.limit = max(limit, 1) }

    /// How many statements are prepared.
    var count: Int { statements.count }

    /// Returns the name of a statement, and notes that it is used now.
    mutating func name(of key: Key) -> String? {
        uses += 1
        guard let index = statements.index(forKey: key) else { return nil }
        statements.values[index].lastUse = uses
        return statements.values[index].name
    }

    /// Gives a statement a name that was never used, and returns it and the name of the
    /// statement that went.
    mutating func add(_ key: Key) -> (name: String, evicted: String?) {
        var evicted: String?
        // A search through all of them, beside which the server parses a statement.
        if statements.count >= limit,
            let oldest = statements.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            evicted = oldest.value.name
            statements[oldest.key] = nil
        }
        made += 1
        uses += 1
        let name = "s\(made)"
        statements[key] = Prepared(name: name, lastUse: uses)
        return (name, evicted)
    }

    /// Forgets a statement, if it still has this name.
    mutating func remove(_ key: Key, named name: String) {
        if statements[key]?.name == name { statements[key] = nil }
    }
}
