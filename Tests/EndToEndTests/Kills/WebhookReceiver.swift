// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TidebellProcesses

/// A server of the operator's own, which takes every webhook message.
///
/// On plain sockets and threads: it answers while the machine is busy, and needs nothing of the product.
final class WebhookReceiver: Sendable {
    /// A push of a query subscription, as far as a ledger knows it.
    private struct Message: Decodable {
        struct Payload: Decodable {
            var ck: Body
        }

        struct Body: Decodable {
            var qry: Query?
        }

        struct Query: Decodable {
            var rid: String
            var fo: Int
        }

        var notificationID: String
        var payload: Payload
    }

    private static let backlog: Int32 = 64
    private static let pieceSize = 65_536

    let port: Int
    private let listener: Int32
    private let bodies = Mutex<[Data]>([])

    /// Listens on a port of its own.
    init() throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        port = try LoopbackPort.free()
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0, listen(listener, Self.backlog) == 0 else {
            throw ProcessFailure(description: "cannot listen on \(port): \(errno)")
        }
        let listener = listener
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { break }
                Thread.detachNewThread { [weak self] in
                    while let body = Self.request(on: connection) {
                        guard let self else { break }
                        self.bodies.withLock { $0.append(body) }
                        let answer = "HTTP/1.1 204 No Content\r\n\r\n"
                        _ = send(connection, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
                    }
                    close(connection)
                }
            }
            close(listener)
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// What `tidebell webhook add` is given.
    var url: String { "http://127.0.0.1:\(port)/hook" }

    /// Every message, the repeated ones too, as text.
    var texts: [String] { bodies.withLock { $0.map { String(decoding: $0, as: UTF8.self) } } }

    /// The notification IDs under which each change came.
    var received: [Ledger.Change: Set<String>] {
        var received: [Ledger.Change: Set<String>] = [:]
        for body in bodies.withLock(\.self) {
            guard let message = try? JSONDecoder().decode(Message.self, from: body),
                let query = message.payload.ck.qry,
                let event = Ledger.Change.Event(rawValue: query.fo)
            else { continue }
            received[Ledger.Change(name: query.rid, event: event), default: []]
                .insert(message.notificationID)
        }
        return received
    }

    /// Reads a whole request and returns its body; nil when the connection ends before.
    private static func request(on connection: Int32) -> Data? {
        var data = Data()
        let end = Data("\r\n\r\n".utf8)
        var head: Range<Data.Index>?
        while true {
            if head == nil { head = data.range(of: end) }
            if let head {
                let fields = String(decoding: data[..<head.lowerBound], as: UTF8.self).lowercased()
                let length = fields.components(separatedBy: "content-length: ").dropFirst().first
                    .flatMap { Int($0.prefix { $0.isNumber }) }
                let body = data[head.upperBound...]
                if body.count >= length ?? 0 { return Data(body) }
            }
            var piece = [UInt8](repeating: 0, count: pieceSize)
            let count = recv(connection, &piece, piece.count, 0)
            guard count > 0 else { return nil }
            data.append(contentsOf: piece.prefix(count))
        }
    }
}
