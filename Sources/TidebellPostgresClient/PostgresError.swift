// SPDX-License-Identifier: Apache-2.0
internal import CTidebellPostgres

/// What went wrong between this process and PostgreSQL.
///
/// `description` holds nothing of rows or parameters; ``detail`` may.
package struct PostgresError: Error, Sendable, Hashable {
    /// What a caller can do something about.
    package enum Kind: Sendable, Hashable {
        /// 40001: run the transaction again.
        case serializationFailure
        /// 40P01: run the transaction again.
        case deadlock
        /// 23505; ``PostgresError/constraint`` says of what.
        case uniqueViolation
        /// The connection ended; what it was doing may have been done.
        case connectionLost
        /// No server was reached, or none that suits: nothing was begun.
        case cannotConnect
        /// The server shuts down, starts up, is no longer the primary, or has no memory, lock or time
        /// left for this (classes 53, 55P03, 57, 58 and 25006): later, perhaps at another host.
        case unavailable
        /// The server does not let this user or database in (classes 28 and 3D).
        case notAuthorized
        /// 53100.
        case diskFull
        /// 53300: the server takes no further connection now.
        case tooManyConnections
        /// 57014: by a cancel request or a timeout of the server.
        case queryCanceled
        /// Anything else: ``PostgresError/code`` says what.
        case other
    }

    /// What a caller can do something about.
    package var kind: Kind
    /// The SQLSTATE, five characters; nil when the server did not say it.
    package var code: String?
    /// The server's or libpq's sentence, without a line break at its end.
    package var message: String
    /// What the server adds; it may quote the row.
    package var detail: String?
    /// The constraint that was violated.
    package var constraint: String?
    /// The statement that failed; nil when none did.
    package var sql: String?
    /// Whether the server ended the connection with this error.
    package var endsConnection = false

    /// Creates an error of one of the kinds that no SQLSTATE tells.
    package init(_ kind: Kind, _ message: String, sql: String? = nil) {
        self.kind = kind
        self.message = message
        self.sql = sql
    }

    /// Reads the error of a result.
    init(result: OpaquePointer, sql: String?) {
        func field(_ code: Character) -> String? {
            PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) }
        }
        code = field("C")
        let whole = String(cString: PQresultErrorMessage(result))
        message = field("M") ?? Self.trimmed(whole)
        detail = field("D")
        constraint = field("n")
        self.sql = sql
        let severity = field("V")
        endsConnection = severity == "FATAL" || severity == "PANIC"
        // libpq makes results of its own, without a SQLSTATE, when the connection breaks.
        kind = code.map(Self.kind(of:)) ?? .connectionLost
    }

    /// Returns the kind that a SQLSTATE tells.
    static func kind(of code: String) -> Kind {
        switch code {
        case "40001": .serializationFailure
        case "40P01": .deadlock
        case "23505": .uniqueViolation
        case "25006", "25P03", "25P04", "55P03": .unavailable
        case "53100": .diskFull
        case "53300": .tooManyConnections
        case "57014": .queryCanceled
        case _ where code.hasPrefix("08"): .connectionLost
        case _ where ["53", "57", "58"].contains(code.prefix(2)): .unavailable
        case _ where ["28", "3D"].contains(code.prefix(2)): .notAuthorized
        default: .other
        }
    }

    /// Returns libpq's text without the line break at its end.
    static func trimmed(_ text: String) -> String {
        var text = text[...]
        while let last = text.last, last.isNewline { text.removeLast() }
        return String(text)
    }
}

extension PostgresError: CustomStringConvertible {
    package var description: String {
        var text = "PostgreSQL: \(message)"
        if let code { text += " (\(code))" }
        if let constraint { text += " [\(constraint)]" }
        if let sql { text += " in: \(sql)" }
        return text
    }
}
