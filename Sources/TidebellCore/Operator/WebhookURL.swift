// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The rule for the URLs that webhooks are posted to.
package enum WebhookURL {
    /// The most bytes of one.
    package static let mostBytes = 2048

    /// Fails unless webhooks may be posted to the URL.
    package static func check(_ url: String) throws(OperatorError) {
        guard url.utf8.count <= mostBytes, let parts = URLComponents(string: url),
            let host = parts.host, !host.isEmpty,
            ["http", "https"].contains(parts.scheme?.lowercased())
        else {
            throw OperatorError(
                .invalid, .url,
                "A webhook's URL begins with https:// or http:// and a host, and has at most "
                    + "\(mostBytes) bytes."
            )
        }
        guard parts.user == nil, parts.password == nil else {
            throw OperatorError(
                .invalid, .url,
                "A webhook's URL has no user or password in it; "
                    + "receivers check the signature instead."
            )
        }
    }
}
