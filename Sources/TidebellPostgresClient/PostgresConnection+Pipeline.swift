// SPDX-License-Identifier: Apache-2.0
internal import CTidebellPostgres
internal import Foundation

extension PostgresConnection {
    /// How many bytes are handed to libpq before they are sent, and answers taken meanwhile.
    private static let mostUnsentBytes = 32 << 10
    /// About what a statement adds to its values.
    private static let statementBytes = 64
    /// How long a wait for the socket lasts before libpq is asked anyway, which may hold what it
    /// has deciphered already; in milliseconds.
    private static let longestPoll: Int32 = 1000

    // MARK: Sending

    /// Sends a statement that is prepared, or prepares it in the same round trip.
    func sendPrepared(
        _ sql: String, _ values: [PostgresValue], row: ((PostgresRow) throws -> Void)? = nil,
        count: AskedStatement.Count? = nil, answer: PostgresAnswer? = nil
    ) {
        guard let connection = usable() else { return }
        isEnding = false
        sendDeallocations()
        parameters.fill(values)
        let key = StatementCache.Key(sql: sql, types: parameters.types)
        let name = statements.name(of: key) ?? prepare(key, on: connection)
        guard let name else { return }
        let isSent = parameters.withParameters { values, lengths, formats in
            PQsendQueryPrepared(
                connection, name, parameters.count, values, lengths, formats, 1)
        }
        let statement = AskedStatement(
            sql: sql, prepared: (key, name), row: row, count: count, answer: answer)
        trips?.note(sent: sql)
        sent(isSent, .statement(statement), parameters.byteCount)
    }

    /// Sends a statement that stays unprepared.
    func sendOnce(_ sql: String, _ values: [PostgresValue], as entry: Asked) {
        guard let connection = usable() else { return }
        isEnding = false
        parameters.fill(values)
        let isSent = parameters.withParameters { values, lengths, formats in
            PQsendQueryParams(
                connection, sql, parameters.count, parameters.types, values, lengths, formats, 1)
        }
        if case .commit = entry { commitProgress = .unsaid }
        sent(isSent, entry, sql.utf8.count + parameters.byteCount)
    }

    private func prepare(_ key: StatementCache.Key, on connection: OpaquePointer) -> String? {
        let (name, evicted) = statements.add(key)
        if let evicted { self.evicted.append(evicted) }
        let isSent = PQsendPrepare(connection, name, key.sql, Int32(key.types.count), key.types)
        sent(isSent, .prepare(key, name: name), key.sql.utf8.count)
        return self.connection == nil ? nil : name
    }

    /// Drops what went from the cache; not in a failed transaction, where that would be an error
    /// that hides a ROLLBACK.
    private func sendDeallocations() {
        guard !evicted.isEmpty, let connection,
            PQtransactionStatus(connection) != PQTRANS_INERROR
        else { return }
        let names = evicted
        evicted = []
        for name in names { sendOnce("DEALLOCATE \(name)", [], as: .deallocate(name: name)) }
    }

    /// Returns libpq's connection; without one the next wait throws why.
    private func usable() -> OpaquePointer? {
        if connection == nil { firstError = firstError ?? failure }
        return connection
    }

    private func sent(_ isSent: Int32, _ entry: Asked, _ byteCount: Int) {
        guard let connection else { return }
        guard isSent == 1 else {
            // What follows it must not happen without it.
            return lose(
                PostgresError(
                    PQstatus(connection) == CONNECTION_BAD ? .connectionLost : .other,
                    "a statement could not be sent: \(Self.message(of: connection))",
                    sql: entry.sql))
        }
        asked.append(entry)
        unsentBytes += byteCount + Self.statementBytes
        guard unsentBytes >= Self.mostUnsentBytes else { return }
        // A server that waits until its answers are read reads nothing more itself.
        while self.connection != nil, PQflush(connection) == 1 {
            poll(forWriting: true)
            takeInput()
        }
        unsentBytes = 0
    }

    // MARK: Waiting

    /// Sends what there is, and the end of it, without waiting for answers: the next wait does.
    package func sendOff() {
        guard let connection = usable() else { return }
        guard PQpipelineSync(connection) == 1 else {
            return lose(PostgresError(.connectionLost, Self.message(of: connection)))
        }
        asked.append(.sync)
        while self.connection != nil, PQflush(connection) == 1 {
            poll(forWriting: true)
            takeInput()
        }
        unsentBytes = 0
    }

    /// Waits for everything that was asked. Whatever happens, nothing is asked any more
    /// afterwards, and the first error stands in ``firstError``.
    func wait() {
        guard let connection = usable() else { return asked.removeAll() }
        guard PQpipelineSync(connection) == 1 else {
            return lose(PostgresError(.connectionLost, Self.message(of: connection)))
        }
        trips?.note(asked.last?.sql)
        asked.append(.sync)
        roundTrips += 1
        takeResults()
        while self.connection != nil, !asked.isEmpty {
            let isFlushed = PQflush(connection) == 0
            poll(forWriting: !isFlushed)
            takeInput()
        }
        unsentBytes = 0
    }

    /// Waits for the socket.
    private func poll(forWriting: Bool) {
        guard let connection else { return }
        let events = forWriting ? POLLIN | POLLOUT : POLLIN
        var entry = pollfd(fd: PQsocket(connection), events: Int16(events), revents: 0)
        // Interrupted or not: what is there decides.
        let count = Foundation.poll(&entry, 1, Self.longestPoll)
        // The server forgets a request that comes before its statement.
        if count == 0, let canceller, canceller.isWanted { canceller.cancel() }
    }

    /// Reads what has come and takes the results in it.
    private func takeInput() {
        guard let connection else { return }
        let isRead = PQconsumeInput(connection) == 1
        // Also when that failed: the server's last words may be there.
        let message = Self.message(of: connection)
        takeResults()
        guard self.connection != nil, !isRead || PQstatus(connection) == CONNECTION_BAD else {
            return
        }
        lose(PostgresError(.connectionLost, message, sql: asked.first?.sql))
    }

    private func takeResults() {
        while let connection, let entry = asked.first, PQisBusy(connection) == 0 {
            guard let result = PQgetResult(connection) else {
                guard hasResult else {
                    return lose(
                        PostgresError(
                            .connectionLost, "libpq has no answer: \(Self.message(of: connection))",
                            sql: entry.sql))
                }
                finish(entry)
                continue
            }
            hasResult = true
            if !take(result, of: entry) { PQclear(result) }
        }
    }

    private func finish(_ entry: Asked) {
        asked.removeFirst()
        hasResult = false
        notices.hasDoubtfulWarning = false
    }

    /// Takes one result of a statement; returns whether somebody keeps it.
    private func take(_ result: OpaquePointer, of entry: Asked) -> Bool {
        let status = PQresultStatus(result)
        if status == PGRES_TUPLES_OK, case .statement(let statement) = entry,
            let answer = statement.answer
        {
            answer.take(result, of: statement.sql)
            return true
        }
        switch status {
        case PGRES_PIPELINE_SYNC: finish(entry)
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: succeed(entry, result)
        case PGRES_PIPELINE_ABORTED: fail(entry, nil)
        default: fail(entry, PostgresError(result: result, sql: entry.sql))
        }
        return false
    }

    private func succeed(_ entry: Asked, _ result: OpaquePointer) {
        switch entry {
        case .commit:
            // A transaction that has failed is rolled back by COMMIT, without an error.
            let isDone = String(cString: PQcmdStatus(result)) == "COMMIT"
            commitProgress = isDone ? (notices.hasDoubtfulWarning ? .unsaid : .done) : .refused
            guard isDone, notices.hasDoubtfulWarning else { break }
            note(
                PostgresError(
                    .other, "the server stopped waiting for its synchronous standby", sql: "COMMIT"
                ))
        case .statement(let statement):
            if let count = statement.count {
                count.rows = Int(String(cString: PQcmdTuples(result))) ?? 0
            }
            if let row = statement.row { read(result, statement.sql, row) }
        case .prepare, .deallocate, .sync: break
        }
    }

    private func read(
        _ result: OpaquePointer, _ sql: String, _ body: (PostgresRow) throws -> Void
    ) {
        let fault = PostgresRow.Fault()
        for index in 0..<PQntuples(result) {
            do {
                try body(PostgresRow(result: result, index: index, fault: fault))
            } catch {
                firstError = firstError ?? error
                return
            }
            if var error = fault.error {
                error.sql = sql
                return note(error)
            }
        }
    }

    /// Takes that a statement failed, or was skipped because one before it failed.
    private func fail(_ entry: Asked, _ error: PostgresError?) {
        if let error { note(error) }
        switch entry {
        case .prepare(let key, let name): statements.remove(key, named: name)
        case .deallocate(let name): if error == nil { evicted.append(name) }
        case .commit:
            // A server that ends the connection may have committed before.
            let isSaid = error.map { $0.code != nil && !$0.endsConnection } ?? true
            commitProgress = isSaid ? .refused : .unsaid
        case .statement(let statement):
            // Its plan does not fit the changed tables (0A000), or the server has lost it.
            if let (key, name) = statement.prepared, error?.code == "0A000" {
                statements.remove(key, named: name)
                evicted.append(name)
            } else if let (key, name) = statement.prepared, error?.code == "26000" {
                statements.remove(key, named: name)
            }
        case .sync: break
        }
    }

    private func note(_ error: PostgresError) {
        firstError = firstError ?? error
        if error.code == "25006" || error.endsConnection { failure = failure ?? error }
    }

    /// Gives the connection up: what was asked and not answered has failed.
    private func lose(_ error: PostgresError) {
        asked.removeAll()
        hasResult = false
        firstError = firstError ?? error
        failure = failure ?? error
        close()
    }
}
