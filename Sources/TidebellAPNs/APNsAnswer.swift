// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

/// What came of a request to Apple's service ("Handling notification responses from
/// APNs").
package enum APNsAnswer: Sendable, Hashable {
    /// Why there was no answer.
    package enum Silence: String, Sendable, Hashable {
        /// The connection broke with the request on it, or the service closed it
        /// (GOAWAY).
        case lost = "connection lost"
        /// No connection could be made.
        case unreachable
        /// The answer took too long.
        case timedOut = "timed out"
    }

    /// The service answered. The reason is empty if it gave none; `invalidSince`
    /// is when it found the token dead.
    case status(
        Int, reason: String = "", invalidSince: Instant? = nil, retryAfter: Duration? = nil
    )
    case silence(Silence)

    /// Reads an answer; a body that is not Apple's gives no reason.
    package init(status: Int, retryAfter: String?, body: [UInt8]) {
        // What cannot be read is no error of ours: the status alone decides.
        let details = try? JSONReader.read(body, Details.init)
        self = .status(
            status, reason: details?.reason ?? "", invalidSince: details?.timestamp,
            retryAfter: retryAfter.flatMap(Int.init).map { .seconds(max(0, $0)) }
        )
    }

    /// The answer in words for the journal: `200`, `410 Unregistered`, `timed out`.
    package var words: String {
        switch self {
        case .status(let status, let reason, _, _):
            reason.isEmpty ? "\(status)" : "\(status) \(reason)"
        case .silence(let silence): silence.rawValue
        }
    }
}

/// The body of a refusal.
private struct Details {
    /// Characters of a reason that are kept; Apple's longest has 27.
    private static let reasonLength = 64

    var reason = ""
    var timestamp: Instant?

    init(from reader: inout JSONReader) throws {
        try reader.readObject { reader, name in
            switch name {
            case "reason": reason = String(try reader.readString().prefix(Self.reasonLength))
            case "timestamp":
                let text = String(decoding: try reader.readRaw(), as: UTF8.self)
                timestamp = Int64(text).map(Instant.init)
            default: try reader.skipValue()
            }
        }
    }
}
