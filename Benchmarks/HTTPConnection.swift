// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellProcesses

/// The cheapest HTTP/1.1 client there is: one blocking socket, kept alive, so
/// that the server is measured and not the client.
final class HTTPConnection {
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    init(port: Int) throws {
        descriptor = try Loopback.connect(port)
        var noDelay: Int32 = 1
        setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &noDelay,
            socklen_t(MemoryLayout<Int32>.size)
        )
    }

    deinit {
        close(descriptor)
    }

    /// Sends a request and returns the body of its answer, which must be 200.
    ///
    /// - Parameter requestID: The name under which the server does a write once.
    func post(_ path: String, _ body: String, requestID: String? = nil) throws -> String {
        let name = requestID.map { "X-Tidebell-Request-ID: \($0)\r\n" } ?? ""
        try send(
            "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "X-Tidebell-Extensions: 1\r\n\(name)Content-Length: \(body.utf8.count)\r\n\r\n"
                + body
        )
        let head = try readHead()
        guard head.hasPrefix("HTTP/1.1 200") else {
            throw ProcessFailure(description: "the server answered \(head.prefix(200))")
        }
        guard
            let length = head.lowercased().split(separator: "\r\n")
                .first(where: { $0.hasPrefix("content-length:") })
                .flatMap({ Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) })
        else { throw ProcessFailure(description: "an answer without content-length") }
        while buffer.count < length { try receive() }
        defer { buffer.removeFirst(length) }
        return String(decoding: buffer.prefix(length), as: UTF8.self)
    }

    /// Sends a GET whose answer does not end, and reads its head.
    func openStream(_ path: String) throws {
        try send("GET \(path) HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        let head = try readHead()
        guard head.hasPrefix("HTTP/1.1 200") else {
            throw ProcessFailure(description: "the stream answered \(head.prefix(200))")
        }
    }

    /// Reads until `text` has come, and drops everything up to its end.
    func read(until text: String) throws {
        let pattern = Data(text.utf8)
        while true {
            if let range = Data(buffer).range(of: pattern) {
                buffer.removeFirst(range.upperBound)
                return
            }
            try receive()
        }
    }

    private func readHead() throws -> String {
        let end = Data("\r\n\r\n".utf8)
        while true {
            if let range = Data(buffer.prefix(8192)).range(of: end) {
                defer { buffer.removeFirst(range.upperBound) }
                return String(decoding: buffer.prefix(range.lowerBound), as: UTF8.self)
            }
            try receive()
        }
    }

    private func send(_ text: String) throws {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw ProcessFailure(description: "the connection broke") }
            bytes = bytes.dropFirst(count)
        }
    }

    private func receive() throws {
        var chunk = [UInt8](repeating: 0, count: 1 << 18)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        guard count > 0 else { throw ProcessFailure(description: "the connection broke") }
        buffer.append(contentsOf: chunk.prefix(count))
    }
}

/// Sockets of this machine.
enum Loopback {
    /// Returns a connected, blocking socket.
    static func connect(_ port: Int) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw ProcessFailure(description: "no connection to \(port)") }
        return descriptor
    }
}
