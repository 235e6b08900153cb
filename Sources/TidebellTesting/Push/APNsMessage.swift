// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellScheduling
import TidebellWire

/// A request as it came over the wire.
struct APNsMessage: Sendable {
    /// Names in lower case, pseudo-headers included, in order.
    var headers: [(name: String, value: String)]
    var body: [UInt8]
    /// The ID to answer with if the request has none.
    private let newID = Randomness.system.makeUUID().uuidString.lowercased()

    init(headers: [(name: String, value: String)], body: [UInt8]) {
        self.headers = headers
        self.body = body
    }

    /// The value of a header.
    func first(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// The headers that may stand there once only and stand there twice.
    var duplicates: Set<String> {
        Set(
            Dictionary(grouping: headers.filter { $0.name != "cookie" }, by: \.name)
                .filter { $0.value.count > 1 }.keys
        )
    }

    /// The last part of the path, if it is that of a push; else empty.
    var deviceToken: String {
        let prefix = "/3/device/"
        guard let path = first(":path"), path.hasPrefix(prefix) else { return "" }
        return String(path.dropFirst(prefix.count))
    }

    /// The header `apns-id` of the answer.
    var answerID: String { first("apns-id") ?? newID }
}
