// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// How the requests of an operation are sent, apart from what they contain.
struct RequestOptions: Sendable {
    /// The longest wait for an answer unless an operation sets another (LIMIT-14).
    static let defaultTimeout = Duration.seconds(60)

    /// The longest wait for one answer.
    var timeout = Self.defaultTimeout
    /// The operation that sends the requests; nil for none, whose writes are never sent
    /// again.
    var operationID: String?
    /// The operation's group.
    var group: GroupMark?
    /// Whom the requests are for; nil takes whoever is signed in when one is sent.
    var account: AccountPin?
    /// Whether failures of the network are waited out instead of reported (OP-5).
    var waitsForNetwork = false
    /// When the operation must have ended; nil for no such moment.
    var deadline: Deadline?
    /// What a long-lived operation has sent and received before; nil for others.
    var journal: RequestJournal?
    /// Gives the requests their names.
    var names = RequestNames()

    /// The same for requests of now, which a long-lived operation neither keeps nor counts.
    var withoutJournal: RequestOptions {
        var options = self
        options.journal = nil
        options.names = RequestNames()
        return options
    }
}

/// What the server's log learns about an operation's group (OP-10).
struct GroupMark: Sendable {
    var id: String
    var name: String?
    /// The number of items the app expects; 0 when it does not know.
    var quantity: Int

    /// Characters of a name that are sent.
    static let nameLength = 60
}

/// Gives each request of an operation a name that is the same when the operation does
/// the same once more: the endpoint, and how often it was used before. Saves of records,
/// which may go to a zone twice, have names of their own.
final class RequestNames: Sendable {
    private let counts = Locked<[String: Int]>([:])

    /// Returns the name of the next request to an endpoint.
    func next(_ endpoint: String) -> String {
        counts.withLock { counts in
            counts[endpoint, default: 0] += 1
            return "\(endpoint)/\(counts[endpoint, default: 0])"
        }
    }
}

/// A moment on a device's clock.
struct Deadline: Sendable {
    /// How long the operation may take, for the error that reports it took longer.
    let interval: Duration
    private let left: @Sendable () -> Duration

    /// Creates the moment that is `interval` from now.
    init(_ interval: Duration, on clock: some Clock<Duration>) {
        self.interval = interval
        let end = clock.now.advanced(by: interval)
        left = { clock.now.duration(to: end) }
    }

    /// The time until then; negative afterwards.
    var remaining: Duration { left() }
}

extension RequestOptions {
    /// Returns how long the next request may take, or fails when the operation's time
    /// is over (`timeoutIntervalForResource`).
    func timeoutOfNextRequest() throws(CKError) -> Duration {
        guard let deadline else { return timeout }
        let remaining = deadline.remaining
        guard remaining > .zero else { throw .overdue(deadline) }
        return min(timeout, remaining)
    }

    /// Runs `body`, which may take as long as it likes while something moves, but not
    /// longer than the operation (`timeoutIntervalForResource`).
    func withinDeadline<Value: Sendable>(
        on clock: any Clock<Duration>, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let deadline else { return try await body() }
        _ = try timeoutOfNextRequest()
        return try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await clock.sleep(for: deadline.remaining)
                throw CKError.overdue(deadline)
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }

    /// The header fields of a request.
    ///
    /// - Parameter requestID: The name under which the server does a write only once.
    func headers(hasBody: Bool, requestID: String? = nil) -> [(String, String)] {
        var headers = [(WireProtocol.extensionsHeader, "1")]
        if hasBody { headers.append(("Content-Type", WireProtocol.contentType)) }
        if let operationID { headers.append((WireProtocol.operationIDHeader, operationID)) }
        if let requestID { headers.append((WireProtocol.requestIDHeader, requestID)) }
        guard let group else { return headers }
        headers.append((WireProtocol.groupIDHeader, group.id))
        if let name = group.name {
            let sent = PercentEncoding.encoded(
                String(name.prefix(GroupMark.nameLength))
            )
            headers.append((WireProtocol.groupNameHeader, sent))
        }
        if group.quantity > 0 {
            headers.append((WireProtocol.groupQuantityHeader, String(group.quantity)))
        }
        return headers
    }
}

extension CKError {
    /// Creates the error of an operation that took too long.
    fileprivate static func overdue(_ deadline: Deadline) -> CKError {
        .local(
            .networkFailure,
            "The operation did not end within \(deadline.interval.seconds) seconds "
                + "(timeoutIntervalForResource)."
        )
    }
}
