// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TidebellWire

// What a fault does to a request on its way. Errors are answers that a server gives: status, head and
// JSON, which the device reads as it reads any other.
extension Fault {
    /// Sends a request through the fault.
    ///
    /// - Parameters:
    ///   - kind: The requests that the fault is for: of one zone, only that is met.
    ///   - sleep: Waits on the cloud's clock.
    ///   - send: The way to the server.
    func send(
        _ request: TransportRequest, _ seen: SeenRequest, _ kind: RequestKind, timeout: Duration,
        sleep: (Duration) async throws -> Void,
        by send: (TransportRequest) async throws -> TransportResponse
    ) async throws -> TransportResponse {
        switch effect {
        case .slow(let duration):
            let answer = try await send(request)
            try await sleep(min(duration, timeout))
            guard duration < timeout else { throw TransportError.timedOut(timeout) }
            return answer
        case .shortPage(let count):
            return try await send(request.with(seen.body.limited(to: count)))
        case .items(let items):
            return try await seen.body.failing(items, sending: request, by: send)
        case .error(let code, let retryAfter):
            if isAfterWork {
                _ = try await send(request)
            } else if case .zoneChanges(let body) = seen.body, code.isOfZone {
                let error = WireError(injected: code, retryAfter: retryAfter)
                return try await body.failing(kind.zone, with: error, sending: request, by: send)
            }
            return try Self.answer(code, retryAfter)
        case .lost:
            if isAfterWork { _ = try await send(request) }
            throw TransportError.connectionLost("by a fault that the test injected")
        }
    }

    /// What happens to a file before it moves, or nil where it is to move and what happens then.
    func refusal() throws -> TransportResponse? {
        guard !isAfterWork else { return nil }
        switch effect {
        case .error(let code, let retryAfter): return try Self.answer(code, retryAfter)
        case .lost: throw TransportError.connectionLost("by a fault that the test injected")
        case .items, .slow, .shortPage: return nil
        }
    }

    /// What happens to an answer for a file.
    func afterTransfer(
        timeout: Duration, sleep: (Duration) async throws -> Void
    ) async throws -> TransportResponse? {
        guard isAfterWork else { return nil }
        switch effect {
        case .error(let code, let retryAfter): return try Self.answer(code, retryAfter)
        case .lost: throw TransportError.connectionLost("by a fault that the test injected")
        case .slow(let duration):
            try await sleep(min(duration, timeout))
            guard duration < timeout else { throw TransportError.timedOut(timeout) }
            return nil
        case .items, .shortPage: return nil
        }
    }

    private static func answer(
        _ code: CKError.Code, _ retryAfter: Duration?
    ) throws -> TransportResponse {
        switch code {
        case .networkUnavailable:
            throw TransportError.unreachable("by a fault that the test injected")
        case .networkFailure:
            throw TransportError.connectionLost("by a fault that the test injected")
        default: return TransportResponse(WireError(injected: code, retryAfter: retryAfter))
        }
    }
}

extension TransportResponse {
    /// The answer of a server that refuses a request.
    init(_ error: WireError) {
        self.init(
            status: error.code.status,
            headers: [("Content-Type", "application/json; charset=UTF-8")],
            body: JSONWriter.write { error.write(to: &$0) }
        )
    }

    /// The answer of a server that did what was asked.
    fileprivate init(_ body: some WireBody) {
        self.init(
            status: 200, headers: [("Content-Type", "application/json; charset=UTF-8")],
            body: JSONWriter.write { body.write(to: &$0) }
        )
    }

    /// The same answer with another body.
    fileprivate func with(_ body: some WireBody) -> TransportResponse {
        var answer = self
        answer.body = JSONWriter.write { body.write(to: &$0) }
        answer.headers.removeAll { $0.0.lowercased() == "content-length" }
        return answer
    }
}

extension TransportRequest {
    /// The same request with another body; nil leaves it.
    fileprivate func with(_ body: (any WireBody)?) -> TransportRequest {
        guard let body else { return self }
        var request = self
        request.body = JSONWriter.write { body.write(to: &$0) }
        return request
    }
}

extension WireError {
    /// The error as a server sends it to clients with the extensions.
    init(injected code: CKError.Code, retryAfter: Duration? = nil) {
        let server: ServerErrorCode =
            switch code {
            // Of the two that mean it, the one of a user who is not signed in.
            case .notAuthenticated, .managedAccountRestricted, .accountTemporarilyUnavailable:
                .authenticationRequired
            case .zoneBusy: .tryAgainLater
            default:
                ServerErrorCode.allCases.first { $0.ckErrorCode == code.rawValue } ?? .internalError
            }
        self.init(
            server, "The test injected this fault (\(code)).",
            retryAfter: retryAfter.map { Double($0.milliseconds) / 1000 },
            detail: Detail(ckCode: code.rawValue)
        )
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}

extension CKError.Code {
    /// Whether a server answers it for a zone of several.
    fileprivate var isOfZone: Bool {
        switch self {
        case .changeTokenExpired, .zoneNotFound, .userDeletedZone, .zoneBusy: true
        default: false
        }
    }
}

extension SeenRequest.Body {
    /// The request for a page of so many items; nil where it has no pages.
    fileprivate func limited(to count: Int) -> (any WireBody)? {
        func limit(_ asked: Int?) -> Int {
            guard let asked, asked > 0 else { return count }
            return min(asked, count)
        }
        switch self {
        case .zoneChanges(var request):
            request.options.resultsLimit = limit(request.options.resultsLimit)
            for index in request.zones.indices {
                guard let asked = request.zones[index].options.resultsLimit else { continue }
                request.zones[index].options.resultsLimit = limit(asked)
            }
            return request
        case .databaseChanges(var request):
            request.resultsLimit = limit(request.resultsLimit)
            return request
        case .query(var request):
            request.resultsLimit = limit(request.resultsLimit)
            return request
        default: return nil
        }
    }

    /// Sends what of a request does not fail, and answers for all of it.
    fileprivate func failing(
        _ items: [CKRecord.ID: CKError.Code], sending original: TransportRequest,
        by send: (TransportRequest) async throws -> TransportResponse
    ) async throws -> TransportResponse {
        func error(_ name: String?, in zoneID: ZoneID) -> WireError? {
            items.first { $0.key.recordName == name && zoneID.isNamed(by: $0.key.zoneID) }
                .map { WireError(injected: $0.value) }
        }
        let errors: [WireError?]
        let names: [String]
        let rest: any WireBody
        switch self {
        case .modifyRecords(var request):
            errors = request.operations.map { error($0.recordName, in: request.zoneID) }
            names = request.operations.map { $0.recordName ?? "" }
            if request.atomic ?? true, request.zoneID.zoneName != ZoneID.defaultName {
                return .rolledBack(names, errors)
            }
            request.operations = zip(request.operations, errors).filter { $1 == nil }.map(\.0)
            rest = request
        case .lookupRecords(var request):
            errors = request.records.map { error($0.recordName, in: request.zoneID) }
            names = request.records.map(\.recordName)
            request.records = zip(request.records, errors).filter { $1 == nil }.map(\.0)
            rest = request
        default: return try await send(original)
        }
        var done = ModifyRecords.Response(records: [])
        var answer = TransportResponse(done)
        if errors.contains(where: { $0 == nil }) {
            answer = try await send(original.with(rest))
            guard answer.status == 200 else { return answer }
            done = try JSONReader.read(answer.body) { try ModifyRecords.Response(from: &$0) }
        }
        var others = done.records.makeIterator()
        done.records = zip(names, errors).compactMap { name, error in
            error.map { .failed(recordName: name, $0) } ?? others.next()
        }
        return answer.with(done)
    }
}

extension TransportResponse {
    /// The answer to an atomic request of which something failed (SAVE-15).
    fileprivate static func rolledBack(
        _ names: [String], _ errors: [WireError?]
    ) -> TransportResponse {
        let culprit = zip(names, errors).first { $1 != nil }?.0 ?? ""
        let rolledBack = WireError(
            .atomicError, "the batch is atomic and record '\(culprit)' failed"
        )
        return TransportResponse(
            ModifyRecords.Response(
                records: zip(names, errors).map { .failed(recordName: $0, $1 ?? rolledBack) }
            )
        )
    }
}

extension FetchZoneChanges.Request {
    /// Sends what is asked of other zones, and answers for all.
    fileprivate func failing(
        _ zoneID: CKRecordZone.ID?, with error: WireError, sending original: TransportRequest,
        by send: (TransportRequest) async throws -> TransportResponse
    ) async throws -> TransportResponse {
        let fails = zones.map { zone in zoneID.map { zone.zoneID.isNamed(by: $0) } ?? true }
        var done = FetchZoneChanges.Response(zones: [])
        var answer = TransportResponse(done)
        if fails.contains(false) {
            var rest = self
            rest.zones = zip(zones, fails).filter { !$1 }.map(\.0)
            answer = try await send(original.with(rest))
            guard answer.status == 200 else { return answer }
            done = try JSONReader.read(answer.body) { try FetchZoneChanges.Response(from: &$0) }
        }
        var others = done.zones.makeIterator()
        done.zones = zip(zones, fails).compactMap { zone, fails in
            fails ? .failed(zone.zoneID, error) : others.next()
        }
        return answer.with(done)
    }
}
