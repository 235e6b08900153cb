// SPDX-License-Identifier: Apache-2.0
internal import CTidebellPostgres
internal import Foundation

/// Where a PostgreSQL is and how it is talked to: a URI (`postgres://…`) or a list
/// `host=… dbname=…`, with all options of libpq.
///
/// What is not given comes from libpq's usual places: `PGHOST` and the like, `PGPASSFILE`,
/// service files; TLS is libpq's (`sslmode=verify-full`, `sslrootcert=…`). With several hosts and
/// `target_session_attrs=read-write` libpq takes the first that is a primary, so that a
/// connection made after a failover finds the new one by itself.
///
/// Where neither the address nor a service file says otherwise, only a primary is taken, a host gets ten
/// seconds to answer, and a silent one is given up after about a minute.
/// See: https://www.postgresql.org/docs/15/libpq-connect.html
package struct PostgresAddress: Sendable, Hashable {
    /// What is said to libpq where the user said nothing.
    private static let defaults = [
        "connect_timeout": "10", "keepalives_idle": "30", "keepalives_interval": "10",
        "keepalives_count": "3", "tcp_user_timeout": "60000",
        "target_session_attrs": "read-write", "options": sessionOptions,
    ]
    /// Variables of the environment that say what ``defaults`` would.
    private static let variables = [
        "connect_timeout": "PGCONNECT_TIMEOUT", "target_session_attrs": "PGTARGETSESSIONATTRS",
        "options": "PGOPTIONS",
    ]
    /// How a session runs, whatever the defaults of its role and database: no time-out ends it while it
    /// is idle, the server gives up a silent client, too, and its warnings arrive. And statements use the indexes that
    /// there are for them: they are planned once, often while the tables are empty, where reading all of a table seems
    /// cheapest, and that plan would stay. Once, also where the server would plan a list anew each time, since it takes one
    /// for longer than most are.
    private static let sessionOptions = [
        "client_min_messages=warning", "idle_session_timeout=0",
        "idle_in_transaction_session_timeout=0", "tcp_keepalives_idle=30",
        "tcp_keepalives_interval=10", "tcp_keepalives_count=3", "tcp_user_timeout=60000",
        "client_connection_check_interval=10000",
        "enable_seqscan=off", "enable_hashjoin=off", "enable_mergejoin=off", "jit=off",
        "plan_cache_mode=force_generic_plan",
    ].map { "-c \($0)" }.joined(separator: " ")

    /// The text as given; it may hold a password.
    private let text: String
    private let options: [String: String]
    /// Whether the text says a password.
    package let hasPassword: Bool
    /// Counts the round trips of all connections that are made with it; nil counts none.
    package var trips: RoundTripCount?

    /// Reads an address.
    ///
    /// - Throws: A ``PostgresError`` that does not repeat the text, which may hold a password.
    package init(_ text: String) throws(PostgresError) {
        guard let parsed = PQconninfoParse(text, nil) else {
            throw PostgresError(
                .other,
                "the address of the PostgreSQL is not one that libpq reads: "
                    + "postgres://user@host:port/database?option=value, or host=… dbname=…")
        }
        defer { PQconninfoFree(parsed) }
        self.text = text
        var options = Self.options(parsed)
        hasPassword = options.removeValue(forKey: "password") != nil
        self.options = options
    }

    /// Where it is, without any password: "host db1,db2, database tidebell, user app".
    package var description: String {
        let said = ["host", "hostaddr", "port", "dbname", "user", "service"].compactMap { name in
            options[name].map { "\(name == "dbname" ? "database" : name) \($0)" }
        }
        return said.isEmpty ? "libpq's default address" : said.joined(separator: ", ")
    }

    /// Connects, which takes as long as libpq's `connect_timeout` lets each host.
    func connect() throws(PostgresError) -> OpaquePointer {
        var keywords: [String] = ["fallback_application_name"]
        var values: [String] = ["tidebell"]
        // What is said here has precedence over a service file.
        if options["service"] == nil, getenv("PGSERVICE") == nil {
            for (name, value) in Self.defaults {
                if let variable = Self.variables[name], getenv(variable) != nil { continue }
                keywords.append(name)
                values.append(value)
            }
        }
        // What comes later has precedence.
        keywords += ["dbname", "client_encoding"]
        values += [text, "UTF8"]
        let copies = (keywords + values).map { strdup($0) }
        defer { copies.forEach { free($0) } }
        let pointers = copies.map { $0.map { UnsafePointer($0) } }
        let connection = PQconnectdbParams(
            Array(pointers[..<keywords.count]) + [nil],
            Array(pointers[keywords.count...]) + [nil], 1)
        guard let connection else {
            throw PostgresError(.cannotConnect, "no memory for a connection to \(description)")
        }
        guard PQstatus(connection) != CONNECTION_OK else { return connection }
        if String(cString: PQerrorMessage(connection)).contains("FATAL") {
            // Only asked for does libpq give a server's SQLSTATE here.
            PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
            PQreset(connection)
            PQsetErrorVerbosity(connection, PQERRORS_DEFAULT)
            guard PQstatus(connection) != CONNECTION_OK else { return connection }
        }
        defer { PQfinish(connection) }
        throw refusal(String(cString: PQerrorMessage(connection)))
    }

    /// Makes an error of libpq's text, which names hosts but no passwords.
    private func refusal(_ text: String) -> PostgresError {
        let lines = text.split(whereSeparator: \.isNewline).filter {
            !$0.hasPrefix("LOCATION:")
        }.map { $0.trimmingCharacters(in: .whitespaces) }
        var error = PostgresError(
            .cannotConnect, "cannot connect to \(description): \(lines.joined(separator: "; "))")
        // "…: FATAL:  57P03: the database system is starting up", with two spaces, since the severity may have five
        // letters, too; of several hosts the last.
        if let match = text.matches(of: #/: {2}([0-9A-Z]{5}): /#).last {
            let code = String(match.1)
            error.code = code
            error.kind = PostgresError.kind(of: code)
        }
        return error
    }

    private static func options(
        _ list: UnsafeMutablePointer<PQconninfoOption>
    ) -> [String: String] {
        var options: [String: String] = [:]
        var next = list
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val {
                options[String(cString: keyword)] = String(cString: value)
            }
            next += 1
        }
        return options
    }
}

extension PostgresAddress: CustomStringConvertible {}
