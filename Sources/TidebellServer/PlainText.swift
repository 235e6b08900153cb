// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What it means to use HTTP without TLS beyond this machine.
package enum PlainText {
    /// Returns the sentence for a server that listens at `host`; nil where nothing
    /// travels in the clear beyond this machine. A proxy with TLS helps where it is the
    /// only one that reaches the port.
    package static func warning(servingAt host: String, publicURL: String?) -> String? {
        guard !isLoopback(host) else { return nil }
        if let publicURL, publicURL.lowercased().hasPrefix("https://") {
            return "Listening at \(host): the port itself has no TLS, so only the proxy of "
                + "\(publicURL) should be able to reach it. If the proxy runs on this machine, use "
                + "--host 127.0.0.1."
        }
        return "Listening at \(host) without TLS: passwords, tokens and records are sent "
            + "unencrypted, and others on the network can read them. Use --tls-certificate and "
            + "--tls-key, or put a proxy with TLS in front of the server and use "
            + "--public-url https://…"
    }

    /// Returns the sentence for a client that signs in at a server; nil likewise.
    package static func warning(signingInAt server: String) -> String? {
        guard let url = URL(string: server), url.scheme?.lowercased() == "http",
            let host = url.host, !isLoopback(host)
        else { return nil }
        return "\(server) has no TLS: the password or token, and all data, are sent unencrypted, "
            + "and others on the network can read them. Use an https:// address."
    }

    /// Returns the sentence for a server that keeps files of records in a bucket; nil likewise.
    package static func warning(reaching bucket: BucketPlace) -> String? {
        guard bucket.service.scheme == "http",
            let host = URL(string: bucket.service.url)?.host, !isLoopback(host)
        else { return nil }
        return
            "\(bucket.service.url) has no TLS: others on the network can read the names and sizes of files, though not "
            + "what is in them, and can change answers. Use an https:// address (--s3-endpoint)."
    }

    /// Whether a host is this machine, by its name or address alone.
    static func isLoopback(_ host: String) -> Bool {
        let host = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]")).lowercased()
        if ["localhost", "::1"].contains(host) || host.hasSuffix(".localhost") { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
