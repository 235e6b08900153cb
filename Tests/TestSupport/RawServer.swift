// SPDX-License-Identifier: Apache-2.0
package import Foundation
import Testing
import TidebellScheduling

/// A socket that accepts one connection, reads one request and answers with given bytes.
package final class RawServer: Sendable {
    private let listener: Int32
    private let port: UInt16
    private let isListening = Locked(true)
    private let connection = Locked<Int32?>(nil)
    private let request = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingOldest(1))

    /// Listens on a free port; without an answer nobody is accepted.
    package init(answering answer: String?, thenCloses: Bool = true) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 4) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        port = UInt16(bigEndian: address.sin_port)
        guard let answer else { return }
        Thread.detachNewThread { [self] in serve(Array(answer.utf8), thenCloses) }
    }

    deinit {
        _ = close()
    }

    package func url(_ path: String = "") throws -> URL {
        try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
    }

    /// Waits for the request; as text.
    package func received() async -> String {
        for await text in request.stream { return text }
        return ""
    }

    /// Closes both sockets; returns the address where nobody listens any more.
    package func close() -> String {
        hangUp()
        isListening.withLock { isListening in
            // Once: the number of a closed descriptor soon belongs to somebody else.
            guard isListening else { return }
            shutdown(listener, Int32(SHUT_RDWR))
            Foundation.close(listener)
            isListening = false
        }
        return "http://127.0.0.1:\(port)"
    }

    private func hangUp() {
        connection.withLock { connection in
            guard let open = connection else { return }
            shutdown(open, Int32(SHUT_RDWR))
            Foundation.close(open)
            connection = nil
        }
    }

    private func serve(_ answer: [UInt8], _ closes: Bool) {
        let accepted = accept(listener, nil, nil)
        guard accepted >= 0 else { return }
        connection.current = accepted
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !Self.isComplete(bytes) {
            let count = read(accepted, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        request.continuation.yield(String(decoding: bytes, as: UTF8.self))
        _ = answer.withUnsafeBytes {
            send(accepted, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if closes { hangUp() }
    }

    /// Whether head and body are there; bodies of these tests are `{}` or none.
    private static func isComplete(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        return text.hasSuffix("\r\n\r\n{}") || text.hasPrefix("GET") && text.hasSuffix("\r\n\r\n")
    }
}
