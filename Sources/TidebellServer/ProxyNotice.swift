// SPDX-License-Identifier: Apache-2.0
package import TidebellHTTP

/// What a server prints about the proxies before it.
package enum ProxyNotice {
    /// Returns the sentence for a server behind a proxy that it does not trust; nil where
    /// none is known.
    package static func warning(publicURL: String?, trusting proxies: TrustedProxies) -> String? {
        guard let publicURL, proxies.isEmpty else { return nil }
        return "Behind the proxy of \(publicURL), all callers without a user have the same address "
            + "for this server: one of them can use up the limits of all, and if the proxy is on "
            + "this machine, addresses are not counted at all. Make the proxy set X-Forwarded-For, "
            + "and use --trusted-proxy with its address."
    }

    /// Returns the sentence about a trusted proxy, to follow another sentence; empty without
    /// one.
    package static func sentence(trusting proxies: TrustedProxies) -> String {
        guard !proxies.isEmpty else { return "" }
        return " X-Forwarded-For is trusted from \(proxies.texts.joined(separator: ", ")) only."
    }
}
