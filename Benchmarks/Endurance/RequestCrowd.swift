// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellProcesses

/// Many connections, each of which sends its next request as soon as the one before is answered: more
/// than the server can carry, from one thread. One that was refused rests before it tries again.
final class RequestCrowd {
    /// How long a connection rests that was refused, as `Retry-After` asks at least.
    private static let rest: UInt64 = 1_000_000_000

    /// The longest wait for the last answers, in nanoseconds.
    private static let patience: UInt64 = 60_000_000_000

    private struct Client {
        var connection: Int32
        var answer: [UInt8] = []
        var sentAt: UInt64 = 0
    }

    private let poller: Poller
    private var clients: [Client] = []
    /// Those that rest, the first to go on first.
    private var resting: [(until: UInt64, client: Int)] = []
    private var chunk = [UInt8](repeating: 0, count: 1 << 16)
    /// The next request of a client, by its number.
    private let request: (Int) -> String

    private(set) var accepted = LatencyHistogram()
    private(set) var refused = LatencyHistogram()
    /// How many answers had each status.
    private(set) var statuses: [Int: Int] = [:]

    init(_ count: Int, port: Int, request: @escaping (Int) -> String) throws {
        poller = try Poller()
        self.request = request
        for number in 0..<count {
            let connection = try Loopback.connect(port)
            try poller.add(connection, as: number)
            clients.append(Client(connection: connection))
        }
    }

    deinit {
        for client in clients { close(client.connection) }
    }

    /// Sends for so many seconds, and returns when all requests are answered; tells the client of each
    /// answer, and whether it was 200.
    func run(seconds: Double, _ answered: (Int, Bool) -> Void) throws {
        let end = monotonicNow() + UInt64(seconds * 1e9)
        var waiting = clients.count
        for client in clients.indices { try send(of: client) }
        while waiting > 0 || monotonicNow() < end {
            for client in poller.wait(atMost: 10) {
                guard let status = try receive(client) else { continue }
                waiting -= 1
                answered(client, status == 200)
                guard monotonicNow() < end else { continue }
                if status == 200 {
                    try send(of: client)
                    waiting += 1
                } else {
                    resting.append((monotonicNow() + Self.rest, client))
                }
            }
            let now = monotonicNow()
            guard now < end + Self.patience else {
                throw ProcessFailure(description: "\(waiting) requests were not answered")
            }
            let awake = now < end ? resting.prefix { $0.until <= now } : []
            resting.removeFirst(awake.count)
            for (_, client) in awake { try send(of: client) }
            waiting += awake.count
        }
    }

    private func send(of client: Int) throws {
        clients[client].sentAt = monotonicNow()
        let sent = request(client).utf8.withContiguousStorageIfAvailable {
            write(clients[client].connection, $0.baseAddress, $0.count) == $0.count
        }
        guard sent == true else { throw ProcessFailure(description: "a request was not sent") }
    }

    /// Returns the status of an answer that has come whole.
    private func receive(_ client: Int) throws -> Int? {
        let length = recv(clients[client].connection, &chunk, chunk.count, 0)
        guard length > 0 else { throw ProcessFailure(description: "a client was cut off") }
        clients[client].answer += chunk[..<length]
        let text = String(decoding: clients[client].answer, as: UTF8.self)
        guard let headEnd = text.range(of: "\r\n\r\n"),
            let field = text.range(of: "content-length: ", options: .caseInsensitive),
            let count = Int(text[field.upperBound...].prefix { $0.isNumber }),
            text[headEnd.upperBound...].utf8.count >= count,
            let status = Int(text.dropFirst(9).prefix(3))
        else { return nil }
        guard status != 200 || !text.contains("serverErrorCode") else {
            throw ProcessFailure(description: "a record was refused: \(text.suffix(300))")
        }
        clients[client].answer = []
        let time = monotonicNow() - clients[client].sentAt
        if status == 200 { accepted.record(time) } else { refused.record(time) }
        statuses[status, default: 0] += 1
        return status
    }
}
