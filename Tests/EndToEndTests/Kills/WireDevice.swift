// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport

/// A device that speaks the Web Services itself, so that a test decides what is sent, and under which
/// request ID.
struct WireDevice: Sendable {
    /// A request that has no answer: it may have been done, or not.
    struct Unanswered: Error {}

    let server: URL
    let apiToken: String
    let webAuthToken: String
    let clientID: String
    private let transport: HTTPTransport

    init(server: URL, apiToken: String, webAuthToken: String, clientID: String) {
        self.server = server
        self.apiToken = apiToken
        self.webAuthToken = webAuthToken
        self.clientID = clientID
        transport = HTTPTransport(server: server)
    }

    /// One order of keys: a request that is sent again is the same, byte for byte.
    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }

    private var query: String {
        "ckAPIToken=\(apiToken)&ckWebAuthToken=\(webAuthToken)&clientId=\(clientID)"
    }

    /// Posts to an endpoint of a database; every status below 500 is an answer.
    func post<Body: Encodable, Answer: Decodable>(
        _ endpoint: String, _ body: Body, as requestID: String? = nil
    ) async throws -> Answer {
        var headers = [("Content-Type", "application/json")]
        if let requestID { headers.append(("X-Tidebell-Request-ID", requestID)) }
        let request = TransportRequest(
            method: "POST",
            path: "/database/1/\(Household.container)/development/\(endpoint)?\(query)",
            headers: headers, body: Array(try Self.encoder.encode(body))
        )
        guard let answer = try? await transport.send(request, timeout: .patience),
            answer.status < 500
        else { throw Unanswered() }
        return try JSONDecoder().decode(Answer.self, from: Data(answer.body))
    }

    /// Posts until there is an answer.
    func insist<Body: Encodable, Answer: Decodable>(
        _ endpoint: String, _ body: Body
    ) async throws -> Answer {
        while true {
            do {
                return try await post(endpoint, body)
            } catch is Unanswered {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }

    /// The status of a question that only a valid token gets an answer to.
    func statusOfCaller() async throws -> Int {
        let path = "/database/1/\(Household.container)/development/public/users/caller?\(query)"
        let request = TransportRequest(method: "GET", path: path)
        return try await transport.send(request, timeout: .patience).status
    }

    /// Opens the device's stream, after a cursor if it has one.
    func stream(after cursor: String?) async throws -> TransportStream {
        let path = "/ext/1/\(Household.container)/development/notifications/stream?\(query)"
        let position = cursor.map { "&cursor=\($0)" } ?? ""
        return try await transport.stream(
            TransportRequest(method: "GET", path: path + position)
        )
    }
}

// MARK: - What is sent and answered

/// The number in a record.
struct WireValue: Codable {
    var value: Int
}

/// A record of the kill test, as sent and as answered.
struct WireEntry: Codable {
    var recordName: String?
    var recordType: String?
    var recordChangeTag: String?
    var fields: [String: WireValue]?
    var deleted: Bool?
    var serverErrorCode: String?
    var reason: String?

    /// The number in the record.
    var number: Int? { fields?["value"]?.value }
}

/// One operation of `records/modify`.
struct WireOperation: Codable {
    enum Kind: String, Codable {
        case create, update, delete
    }

    var operationType: Kind
    var record: WireEntry

    static func create(_ name: String?, _ number: Int) -> WireOperation {
        WireOperation(
            operationType: .create,
            record: WireEntry(
                recordName: name, recordType: "Entry", fields: ["value": WireValue(value: number)]
            )
        )
    }

    static func update(_ name: String, tag: String, _ number: Int) -> WireOperation {
        WireOperation(
            operationType: .update,
            record: WireEntry(
                recordName: name, recordType: "Entry", recordChangeTag: tag,
                fields: ["value": WireValue(value: number)]
            )
        )
    }

    static func delete(_ name: String, tag: String) -> WireOperation {
        WireOperation(
            operationType: .delete, record: WireEntry(recordName: name, recordChangeTag: tag)
        )
    }
}

/// The zone of the kill test.
struct WireZone: Codable {
    var zoneName = "Feed"
}

/// `records/modify`.
struct WireModify: Codable {
    var zoneID = WireZone()
    var atomic: Bool
    var operations: [WireOperation]
}

/// `records/lookup`.
struct WireLookup: Codable {
    struct Name: Codable {
        var recordName: String
    }

    var zoneID = WireZone()
    var records: [Name]
}

/// The answer of `records/modify` and `records/lookup`.
struct WireEntries: Codable {
    /// Nil where the whole request was refused.
    var records: [WireEntry]?
    var serverErrorCode: String?
    var reason: String?
}

/// `changes/zone`.
struct WireChanges: Codable {
    struct Zone: Codable {
        var zoneID = WireZone()
        var syncToken: String?
        var resultsLimit: Int
    }

    var zones: [Zone]
}

/// The answer of `changes/zone`.
struct WireChangesAnswer: Decodable {
    struct Page: Decodable {
        var syncToken: String
        var moreComing: Bool
        var records: [WireEntry]

        private enum Key: String, CodingKey {
            case syncToken, moreComing, records, serverErrorCode, reason
        }

        /// Fails with the server's reason where it refuses the changes of a zone.
        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Key.self)
            if let code = try members.decodeIfPresent(String.self, forKey: .serverErrorCode) {
                let reason = try members.decodeIfPresent(String.self, forKey: .reason) ?? ""
                throw ZoneRefused(description: "changes/zone: \(code): \(reason)")
            }
            syncToken = try members.decode(String.self, forKey: .syncToken)
            moreComing = try members.decode(Bool.self, forKey: .moreComing)
            records = try members.decode([WireEntry].self, forKey: .records)
        }
    }

    var zones: [Page]
}

/// The answer of a server that refuses a zone.
struct ZoneRefused: Error, CustomStringConvertible {
    var description: String
}
