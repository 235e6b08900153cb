// SPDX-License-Identifier: Apache-2.0
import Foundation

@testable import CloudKit

/// A transport that answers from a script and keeps what it was sent.
final class ScriptedTransport: Transport {
    /// A request as it was sent, in parts that tests compare.
    struct Sent: Sendable {
        var method: String
        var path: String
        var query: [String: String]
        var headers: [String: String]
        var body: String
        var timeout: Duration

        init(_ request: TransportRequest, timeout: Duration) {
            let parts = request.path.split(separator: "?", maxSplits: 1)
            method = request.method
            path = String(parts[0])
            query = [:]
            for pair in parts.count == 2 ? parts[1].split(separator: "&") : [] {
                let sides = pair.split(separator: "=", omittingEmptySubsequences: false)
                query[String(sides[0])] = String(sides[1]).removingPercentEncoding
            }
            headers = Dictionary(request.headers, uniquingKeysWith: { $0 + "," + $1 })
            body = String(decoding: request.body ?? [], as: UTF8.self)
            self.timeout = timeout
        }

        /// The path from the database on, such as `private records/modify`.
        var endpoint: String {
            path.split(separator: "/").dropFirst(4).joined(separator: "/")
                .replacing("/", with: " ", maxReplacements: 1)
        }
    }

    /// Answers the request with a number, counted from 0.
    typealias Script = @Sendable (Sent, Int) async throws -> TransportResponse
    /// Opens the stream with a number, counted from 0.
    typealias StreamScript = @Sendable (Sent, Int) async throws -> TransportStream

    private let script: Script
    private let streamScript: StreamScript
    private let log = Locked<[Sent]>([])
    private let streamLog = Locked<[Sent]>([])

    init(
        streams: @escaping StreamScript = { _, _ in throw TransportError.unreachable("no stream") },
        _ script: @escaping Script
    ) {
        self.script = script
        streamScript = streams
    }

    /// Gives the answers one after the other, the last one for ever.
    convenience init(answering answers: String...) {
        self.init { _, number in .json(answers[min(number, answers.count - 1)]) }
    }

    var sent: [Sent] { log.current }
    var opened: [Sent] { streamLog.current }

    func send(_ request: TransportRequest, timeout: Duration) async throws -> TransportResponse {
        let sent = Sent(request, timeout: timeout)
        let number = log.withLock { log in
            log.append(sent)
            return log.count - 1
        }
        return try await script(sent, number)
    }

    func stream(_ request: TransportRequest) async throws -> TransportStream {
        let sent = Sent(request, timeout: .zero)
        let number = streamLog.withLock { log in
            log.append(sent)
            return log.count - 1
        }
        return try await streamScript(sent, number)
    }
}

extension TransportResponse {
    /// An answer with a JSON body, under the request ID the tests expect.
    static func json(_ body: String, status: Int = 200) -> TransportResponse {
        TransportResponse(
            status: status,
            headers: [("x-apple-request-uuid", "REQUEST-1")],
            body: Array(body.utf8)
        )
    }
}

/// A device of a test: a script for a server.
struct TestDevice {
    var session: DeviceSession
    var container: CKContainer

    init(
        _ transport: ScriptedTransport,
        clock: any Clock<Duration> = ContinuousClock(),
        jitter: @escaping @Sendable () -> Double = { 0 },
        webAuthToken: String? = "web+token/1=",
        stateFolder: URL? = nil,
        now: @escaping @Sendable () -> Instant = Time.system.now,
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        session = DeviceSession(
            configuration: DeviceConfiguration(
                server: URL(fileURLWithPath: "/"),
                apiToken: "api-token",
                webAuthToken: webAuthToken,
                defaultContainer: "iCloud.default",
                deviceID: "device-1",
                stateFolder: stateFolder
            ),
            transport: transport,
            time: Time(now: now, clock: clock),
            jitter: jitter,
            notice: notice
        )
        container = CKContainer(identifier: "iCloud.notes", session: session)
    }

    var database: CKDatabase { container.privateCloudDatabase }
}

/// JSON that servers answer with.
enum Answer {
    /// An element of `records`.
    static func record(
        _ name: String,
        type: String = "Note",
        tag: String = "t1",
        fields: String = "{}",
        zone: String = "Notes",
        more: String = ""
    ) -> String {
        """
        {"recordName":"\(name)","recordType":"\(type)","fields":\(fields),"pluginFields":{},\
        "recordChangeTag":"\(tag)",\
        "created":{"timestamp":1000,"userRecordName":"_me","deviceID":"d"},\
        "modified":{"timestamp":2500,"userRecordName":"_you","deviceID":"d"},\
        "deleted":false,"zoneID":{"zoneName":"\(zone)","ownerRecordName":"_me"}\(more)}
        """
    }

    /// A tombstone.
    static func tombstone(_ name: String, type: String? = "Note") -> String {
        let type = type.map { #","recordType":"\#($0)""# } ?? ""
        return #"{"recordName":"\#(name)","deleted":true\#(type)}"#
    }

    /// An element that failed; `identity` is its own member.
    static func failure(_ identity: String, _ code: String, ext: String = "") -> String {
        #"{\#(identity),"serverErrorCode":"\#(code)","reason":"because of \#(code)"\#(ext)}"#
    }

    /// An element of `records` that failed.
    static func failedRecord(_ name: String, _ code: String, ext: String = "") -> String {
        failure(#""recordName":"\#(name)""#, code, ext: ext)
    }

    static func records(_ items: String...) -> String { list("records", items) }
    static func zones(_ items: String...) -> String { list("zones", items) }
    static func subscriptions(_ items: String...) -> String { list("subscriptions", items) }

    /// An element of `zones`.
    static func zone(_ name: String, atomic: Bool = true) -> String {
        """
        {"zoneID":{"zoneName":"\(name)","ownerRecordName":"_me"},"atomic":\(atomic)}
        """
    }

    /// An element of `zones` in `changes/zone`.
    static func page(
        _ zone: String,
        token: String,
        more: Bool = false,
        clientToken: String? = nil,
        _ records: String...
    ) -> String {
        let client = clientToken.map { #","clientChangeToken":"\#($0)""# } ?? ""
        return """
            {"zoneID":{"zoneName":"\(zone)","ownerRecordName":"_me"},"syncToken":"\(token)",\
            "moreComing":\(more)\(client),"records":[\(records.joined(separator: ","))]}
            """
    }

    private static func list(_ name: String, _ items: [String]) -> String {
        #"{"\#(name)":[\#(items.joined(separator: ","))]}"#
    }
}

/// Lines in the order in which callbacks wrote them.
final class CallbackLog: Sendable {
    private let entries = Locked<[String]>([])

    var lines: [String] { entries.current }

    func add(_ line: String) {
        entries.withLock { $0.append(line) }
    }
}

extension CKDatabase {
    /// Runs an operation and waits until its completion block was called.
    func runToEnd(_ operation: CKDatabaseOperation) async {
        let ended = operation.completionBlock
        await withCheckedContinuation { continuation in
            operation.completionBlock = {
                ended?()
                continuation.resume()
            }
            add(operation)
        }
    }
}

/// The short form of an error that tests compare: code and reason.
func text(_ error: (any Error)?) -> String {
    guard let error else { return "nil" }
    if let error = error as? DeviceError { return text(CKError(error)) }
    guard let error = error as? CKError else { return "not a CKError: \(error)" }
    return "\(error.code): \(error.localizedDescription)"
}

/// The short form of a result that tests compare.
func text<Value>(_ result: Result<Value, any Error>) -> String {
    switch result {
    case .success: "success"
    case .failure(let error): text(error)
    }
}
