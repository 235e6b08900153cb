// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

extension ContainerConnection {
    /// Sends a call and reads the answer's body with `read`.
    ///
    /// What failed for a moment is sent again, see ``RequestRetry``. A long-lived operation
    /// that has the answer already takes that one.
    func answer<Value: Sendable>(
        to call: WebServicesCall,
        options: RequestOptions,
        _ read: (inout JSONReader) throws -> Value
    ) async throws(CKError) -> WebServicesAnswer<Value> {
        let name = call.name ?? options.names.next(call.endpoint)
        let journal = call.isKept ? options.journal?.ifItKeeps(call, as: name) : nil
        let known = journal?.answer(to: name)
        try await checkUser(options)
        if let known { return try understand(known, read) }
        var call = call
        // A request that was sent before goes out as it was, so that the server knows it.
        call.body = journal?.body(of: name) ?? call.body
        call.requestID = call.isRead ? nil : options.operationID.map { "\($0)/\(name)" }
        let sentBefore = journal?.sentAt(name)
        journal?.willSend(call.body, as: name, at: session.date())
        let response = try await response(to: call, sentBefore, options)
        journal?.didReceive(response, to: name)
        return try understand(response, read)
    }

    /// Fails when a long-lived operation was started by another user; asks the server where
    /// the device does not know.
    private func checkUser(_ options: RequestOptions) async throws(CKError) {
        guard let owner = options.journal?.owner else { return }
        if let name = owner.userRecordName, let known = userRecordName {
            if name == known { return }
        } else if owner.accountDigest == options.account?.account?.digest {
            return
        } else if let name = owner.userRecordName {
            var options = options
            options.journal = nil
            if try await fetchUserRecordName(options) == name { return }
        }
        throw .local(
            .notAuthenticated,
            "The operation was started by another user, who is not signed in on this device."
        )
    }

    /// Sends a call until there is an answer, or an error that is not about the moment.
    ///
    /// - Parameter sentBefore: When an earlier process sent it; nil when none did.
    private func response(
        to call: WebServicesCall,
        _ sentBefore: Date?,
        _ options: RequestOptions
    ) async throws(CKError) -> TransportResponse {
        let retry = RequestRetry(
            isRead: call.isRead,
            isRepeatable: call.isRead || call.requestID != nil,
            waitsForNetwork: options.waitsForNetwork
        )
        var mayBeDoneSince = call.isRead ? nil : sentBefore
        var attempt = 0
        while true {
            attempt += 1
            let now = session.date()
            if let mayBeDoneSince,
                now.timeIntervalSince(mayBeDoneSince) >= RequestRetry.longestRepetition.seconds
            {
                throw .answerLost(since: mayBeDoneSince, container: identifier)
            }
            let failure: RequestFailure
            do {
                return try await exchange(call, options)
            } catch {
                failure = error
            }
            if failure.mayBeDone, !call.isRead { mayBeDoneSince = mayBeDoneSince ?? now }
            guard
                let delay = options.wait(
                    after: attempt, failure, by: retry, jitter: session.jitter()
                )
            else { throw failure.error.ofAccount }
            if options.waitsForNetwork {
                let server = try? session.configuration.get().server
                session.waitNotice.isWaiting(call.endpoint, server: server, after: failure)
            }
            do {
                try await session.clock.sleep(
                    for: delay,
                    awaitedFor: "to send \(call.endpoint) again, after: \(failure.error)"
                )
            } catch {
                throw .cancelled(error)
            }
        }
    }

    /// Sends a call once, for a user; an operation's not before the server wants it.
    func send(
        _ call: WebServicesCall,
        _ options: RequestOptions,
        at address: Address
    ) async throws(RequestFailure) -> TransportResponse {
        guard !Task.isCancelled else { throw RequestFailure(.cancelled()) }
        let subject = options.operationID.map { _ in throttleSubject(of: call, at: address) }
        if let subject, let remaining = session.throttles.current.remaining(for: subject) {
            throw RequestFailure(.throttled(subject, for: remaining))
        }
        let response: TransportResponse
        do {
            let request = TransportRequest(
                method: call.route.method.rawValue,
                path: try path(of: call, at: address),
                headers: options.headers(hasBody: call.body != nil, requestID: call.requestID),
                body: call.body
            )
            response = try await session.transport(to: address.configuration)
                .send(request, timeout: try options.timeoutOfNextRequest())
        } catch {
            throw RequestFailure(
                error, container: identifier, server: address.configuration.server
            )
        }
        guard response.status == 200 else {
            let report = CKError.ServerReport(response, container: identifier)
            let error = CKError.server(response, report: report, of: call.zone)
            if let subject {
                session.throttles.withLock { $0.note(error, to: subject, on: session.clock) }
            }
            throw RequestFailure(error, status: response.status)
        }
        do {
            try take(response, at: address)
        } catch {
            throw RequestFailure(error)
        }
        return response
    }

    private func throttleSubject(
        of call: WebServicesCall, at address: Address
    ) -> Throttles.Subject {
        Throttles.Subject(
            container: address.container, account: address.account, scope: call.scope,
            endpoint: call.endpoint, zone: call.zone
        )
    }

    private func understand<Value: Sendable>(
        _ response: TransportResponse,
        _ read: (inout JSONReader) throws -> Value
    ) throws(CKError) -> WebServicesAnswer<Value> {
        let report = CKError.ServerReport(response, container: identifier)
        do {
            let value = try JSONReader.read(response.body, read)
            return WebServicesAnswer(value: value, report: report)
        } catch {
            throw .server(
                .internalError,
                "The server's answer cannot be read: \(error)",
                report: report
            )
        }
    }
}

extension RequestJournal {
    /// The journal, unless it has another read under the name: that one's answer would be
    /// reported for the wrong records.
    fileprivate func ifItKeeps(_ call: WebServicesCall, as name: String) -> RequestJournal? {
        let isOther = call.isRead && sentAt(name) != nil && body(of: name) != call.body
        return isOther ? nil : self
    }
}
