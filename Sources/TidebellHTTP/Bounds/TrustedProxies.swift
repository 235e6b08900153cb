// SPDX-License-Identifier: Apache-2.0
package import HTTPTypes

/// The proxies that are believed about where a request comes from.
///
/// NB: only `X-Forwarded-For` is read, not `Forwarded` (RFC 7239): a proxy that sets one
/// of them passes the other on as its client wrote it.
package struct TrustedProxies: Sendable, Hashable {
    /// The most addresses of a request that are looked at, from the right.
    static let mostHops = 32

    private let networks: [IPNetwork]
    /// The networks as they were written.
    package let texts: [String]

    /// Trusts nobody.
    package init() { (networks, texts) = ([], []) }

    /// Reads addresses, or networks such as `10.0.0.0/8`; fails with the first that is
    /// neither.
    package init(_ texts: [String]) throws(NoNetwork) {
        var networks: [IPNetwork] = []
        for text in texts {
            guard let network = IPNetwork(text) else { throw NoNetwork(text: text) }
            networks.append(network)
        }
        self.networks = networks
        self.texts = texts
    }

    /// A text that names neither an address nor a network.
    package struct NoNetwork: Error {
        package let text: String
    }

    /// Whether there are none.
    package var isEmpty: Bool { networks.isEmpty }

    /// Whether a connection is of one of them.
    func contains(_ peer: PeerAddress?) -> Bool {
        guard let peer else { return false }
        return contains(peer.address)
    }

    /// Returns where a request comes from that a connection of `peer` brought.
    ///
    /// From the right, each address was written by the one after it, and is believed as
    /// far as that one is trusted. What nobody trusted has written is not read. Nil where a
    /// trusted proxy does not name it: the header is missing, has trusted proxies alone, or an
    /// address that cannot be read.
    package func caller(of peer: PeerAddress, _ headers: HTTPFields) -> PeerAddress? {
        guard contains(peer.address) else { return peer }
        // Whether all proxies that wrote so far are on this machine.
        var isHere = peer.isLoopback
        var hops = 0
        for field in headers.reversed() where field.name == .forwardedFor {
            // Cut as bytes: some characters of a client's text would join with the comma.
            let written = field.value.utf8.split(
                separator: UInt8(ascii: ","), omittingEmptySubsequences: false
            )
            for hop in written.reversed() {
                hops += 1
                guard hops <= Self.mostHops, let address = Self.address(Substring(hop)) else {
                    return nil
                }
                guard contains(address) else {
                    // Another machine calls itself so, too.
                    return address.isLoopback && !isHere ? nil : PeerAddress(address)
                }
                isHere = isHere && address.isLoopback
            }
        }
        return nil
    }

    /// Whether a connection is of one of them that says that its client reaches it by https
    /// (`X-Forwarded-Proto`); nobody else is believed.
    func speaksTLS(_ peer: PeerAddress?, _ headers: HTTPFields) -> Bool {
        guard !isEmpty, contains(peer), let scheme = headers[.forwardedProto] else { return false }
        return scheme.isSameName(as: "https")
    }

    private func contains(_ address: IPAddress) -> Bool {
        networks.contains { $0.contains(address) }
    }

    /// Reads an address as proxies write it: some add the port, and brackets then.
    private static func address(_ text: Substring) -> IPAddress? {
        let text = text.drop { $0 == " " || $0 == "\t" }
        guard let end = text.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return nil }
        let hop = text[...end]
        if hop.first == "[" {
            guard let closing = hop.firstIndex(of: "]") else { return nil }
            let rest = hop[hop.index(after: closing)...]
            guard rest.isEmpty || isPort(rest) else { return nil }
            return IPAddress(hop[hop.index(after: hop.startIndex)..<closing])
        }
        if let address = IPAddress(hop) { return address }
        guard let colon = hop.lastIndex(of: ":"), isPort(hop[colon...]) else { return nil }
        let address = IPAddress(hop[..<colon])
        return address?.isShort == true ? address : nil
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.first == ":" && UInt16(text.dropFirst()) != nil
    }
}
