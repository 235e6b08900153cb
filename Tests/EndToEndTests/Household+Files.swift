// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport
import TidebellProcesses

/// A connection that sends what a test gives it, and reads nothing by itself.
final class SilentConnection: Sendable {
    private let descriptor: Int32

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw ProcessFailure(description: "connect: \(errno)") }
    }

    deinit { Foundation.close(descriptor) }

    /// Sends a text; a connection that was closed takes it, too.
    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Waits for the first bytes of an answer.
    func waitForAnswer() {
        var byte: UInt8 = 0
        _ = recv(descriptor, &byte, 1, 0)
    }
}

extension Household {
    /// A web client's way to a file: asks for an upload, and returns its path and record.
    private func awaitUpload() async throws -> (path: String, record: String) {
        let asked = try await json(
            post("assets/upload", #"{"tokens":[{"recordType":"Note","fieldName":"f"}]}"#))
        guard let token = (asked["tokens"] as? [[String: Any]])?.first,
            let url = (token["url"] as? String).flatMap(URL.init(string:)),
            let record = token["recordName"] as? String
        else { throw ProcessFailure(description: "no upload: \(asked)") }
        return (url.path, record)
    }

    /// Begins an upload that never ends.
    func beginUpload() async throws -> SilentConnection {
        let (path, _) = try await awaitUpload()
        let connection = try SilentConnection(port: port)
        connection.send("POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: 900000\r\n\r\nabc")
        return connection
    }

    /// Saves a record that the server names, with a file; returns the name.
    func saveUnnamed(_ text: String) async throws -> String {
        let (path, record) = try await awaitUpload()
        let uploaded = try await json(request("POST", path, Array(text.utf8)))
        guard let file = uploaded["singleFile"] else {
            throw ProcessFailure(description: "not uploaded: \(uploaded)")
        }
        let fields: [String: Any] = ["f": ["value": file]]
        let operation: [String: Any] = [
            "operationType": "create",
            "record": ["recordType": "Note", "recordName": record, "fields": fields],
        ]
        let body = try JSONSerialization.data(withJSONObject: ["operations": [operation]])
        let saved = try await post("records/modify", String(decoding: body, as: UTF8.self))
        guard !saved.contains("ErrorCode") else { throw ProcessFailure(description: saved) }
        return record
    }

    /// Returns the bytes of a record's file as text.
    func text(of record: String) async throws -> String {
        String(decoding: try await request("GET", try await filePath(record), []), as: UTF8.self)
    }

    /// Begins to fetch a file and stops reading.
    func beginDownloadAndStop(bytes: Int) async throws -> SilentConnection {
        let record = try await saveUnnamed(String(repeating: "a", count: bytes))
        let connection = try SilentConnection(port: port)
        connection.send("GET \(try await filePath(record)) HTTP/1.1\r\nHost: h\r\n\r\n")
        connection.waitForAnswer()
        return connection
    }

    /// Opens a device stream and reads its beginning only.
    func openStream() async throws -> SilentConnection {
        let connection = try SilentConnection(port: port)
        let path = "/ext/1/\(Self.container)/development/notifications/stream"
        connection.send("GET \(path)?\(tokens)&clientId=d HTTP/1.1\r\nHost: h\r\n\r\n")
        connection.waitForAnswer()
        return connection
    }

    private func filePath(_ record: String) async throws -> String {
        let found = try await json(
            post("records/lookup", #"{"records":[{"recordName":"\#(record)"}]}"#))
        let fields = ((found["records"] as? [[String: Any]])?.first?["fields"]) as? [String: Any]
        let value = (fields?["f"] as? [String: Any])?["value"] as? [String: Any]
        guard let text = value?["downloadURL"] as? String,
            let url = URL(string: text.replacingOccurrences(of: "${f}", with: "f"))
        else { throw ProcessFailure(description: "no file: \(found)") }
        return url.path
    }

    private func request(
        _ method: String, _ path: String, _ body: [UInt8]
    ) async throws -> [UInt8] {
        guard let server = URL(string: "http://127.0.0.1:\(port)") else { return [] }
        let answer = try await HTTPTransport(server: server, leastTimeout: .patience).send(
            TransportRequest(method: method, path: path, headers: [], body: body),
            timeout: .patience
        )
        guard answer.status == 200 else {
            throw ProcessFailure(description: "\(path): \(answer.status)")
        }
        return answer.body
    }

    private func json(_ text: String) throws -> [String: Any] {
        try json(Array(text.utf8))
    }

    private func json(_ bytes: [UInt8]) throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] ?? [:]
    }
}
