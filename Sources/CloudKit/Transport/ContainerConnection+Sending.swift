// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import TidebellWire

/// How often and how soon a read is sent again. Writes never are: the first one may
/// have been done.
enum ReadRetry {
    /// The most times one read is sent.
    static let maximumAttempts = 3
    /// The wait before the second attempt; doubles with each further one.
    static let firstDelay = Duration.milliseconds(500)
    /// The longest wait the device takes upon itself; when the server asks for more,
    /// the app gets the error and decides (ERR-6).
    static let longestDelay = Duration.seconds(10)

    /// Returns the wait after `attempt` attempts; nil when the error is to be shown.
    static func delay(after attempt: Int, error: CKError) -> Duration? {
        guard attempt < maximumAttempts else { return nil }
        let backOff = firstDelay * (1 << (attempt - 1))
        guard let seconds = error.retryAfterSeconds else { return backOff }
        let asked = Duration.seconds(max(0, min(seconds, 1e9)))
        return asked <= longestDelay ? max(asked, backOff) : nil
    }
}

extension ContainerConnection {
    /// The `Content-Type` of every request with a body.
    static let contentType = "application/json; charset=UTF-8"

    /// Sends a call and reads the answer's body with `read`.
    ///
    /// Reads that failed for a moment are sent again, see ``ReadRetry``.
    func answer<Value: Sendable>(
        to call: WebServicesCall,
        options: RequestOptions,
        _ read: (inout JSONReader) throws -> Value
    ) async throws(CKError) -> WebServicesAnswer<Value> {
        var attempt = 0
        while true {
            attempt += 1
            let failure: RequestFailure
            do {
                return try await exchange(call, options, read)
            } catch {
                failure = error
            }
            guard call.isRead, failure.isPassing,
                let delay = ReadRetry.delay(after: attempt, error: failure.error)
            else { throw failure.error.ofAccount }
            do {
                try await session.clock.sleep(for: delay)
            } catch {
                throw .cancelled()
            }
        }
    }

    /// The header fields of a request.
    static func headers(_ options: RequestOptions, hasBody: Bool) -> [(String, String)] {
        var headers = [(WireProtocol.extensionsHeader, "1")]
        if hasBody { headers.append(("Content-Type", contentType)) }
        if let id = options.operationID {
            headers.append((RequestOptions.operationIDHeader, id))
        }
        if let id = options.operationGroupID {
            headers.append((RequestOptions.operationGroupIDHeader, id))
        }
        return headers
    }

    /// Sends a call for a user, and reads the answer's body.
    func send<Value: Sendable>(
        _ call: WebServicesCall,
        _ options: RequestOptions,
        in place: Place,
        _ read: (inout JSONReader) throws -> Value
    ) async throws(RequestFailure) -> WebServicesAnswer<Value> {
        guard !Task.isCancelled else { throw RequestFailure(.cancelled()) }
        let response: TransportResponse
        do {
            let request = TransportRequest(
                method: call.body == nil ? "GET" : "POST",
                path: try path(of: call, in: place),
                headers: Self.headers(options, hasBody: call.body != nil),
                body: call.body
            )
            response = try await session.transport(to: place.configuration)
                .send(request, timeout: options.timeout)
        } catch {
            throw RequestFailure(error, container: identifier)
        }
        let report = CKError.ServerReport(response, container: identifier)
        guard response.status == 200 else {
            throw RequestFailure(.server(response, report: report), status: response.status)
        }
        do {
            try take(response, in: place)
        } catch {
            throw RequestFailure(error)
        }
        do {
            let value = try JSONReader.read(response.body, read)
            return WebServicesAnswer(value: value, report: report)
        } catch {
            throw RequestFailure(
                .server(
                    .internalError,
                    "The server's answer cannot be read: \(error)",
                    report: report
                )
            )
        }
    }
}

/// A request without an answer, and whether it may do better in a moment.
struct RequestFailure: Error {
    /// What the app gets.
    var error: CKError
    /// Whether the cause is likely to pass by itself.
    var isPassing: Bool
    /// What the error says about the user; nil for nothing.
    var standing: AccountStanding?

    /// Takes an error the server gave with a status.
    init(_ error: CKError, status: Int = 0) {
        self.error = error
        standing = AccountStanding(error, status: status)
        switch error.code {
        case .serviceUnavailable, .requestRateLimited, .zoneBusy: isPassing = true
        default: isPassing = false
        }
    }

    /// Takes an error of the transport.
    init(_ failure: any Error, container: String?) {
        error = .transport(failure, container: container)
        // A server that does not answer in time will not do so when asked twice.
        if case .connectionLost? = failure as? TransportError {
            isPassing = true
        } else {
            isPassing = false
        }
    }
}
