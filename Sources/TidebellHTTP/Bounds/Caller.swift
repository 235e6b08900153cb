// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

/// The caller whose share a request takes.
package enum Caller: Sendable, Hashable {
    /// An account, in all containers: otherwise each container would be another caller.
    case account(AccountID)
    /// The network address of a caller that has not shown who it is.
    case address(String)
}

extension Caller? {
    /// Whether it is no user: one with an API token only, or with none.
    var isStranger: Bool {
        if case .account = self { false } else { true }
    }
}

/// The network address of a client.
package struct PeerAddress: Sendable, Hashable {
    /// The part that one subscriber of a network has: an IPv4 address, or the first 64
    /// bits of an IPv6 address, below which one subscriber has all addresses.
    package let network: String
    /// Whether it is of this machine.
    package var isLoopback: Bool { address.isLoopback }
    /// The whole address.
    let address: IPAddress

    /// Reads an address; nil for what is none.
    package init?(_ text: String) {
        guard let address = IPAddress(text) else { return nil }
        self.init(address)
    }

    init(_ address: IPAddress) {
        self.address = address
        let bytes = address.bytes
        network =
            switch (address.isShort, address.isLoopback) {
            case (true, _): bytes.map(String.init).joined(separator: ".")
            case (false, true): "::1"
            case (false, false): "\(address.start(of: 8))/64"
            }
    }
}

/// What a request counts as where its caller is no user (``ShareLimits/counted(_:_:)``).
package enum CountedAddress: Sendable, Hashable {
    /// Nothing: it comes from the same process or machine. Programs there may be users, or
    /// one proxy for all.
    case nobody
    /// One network, as its only subscriber.
    case network(String)
    /// A trusted proxy that does not name the client it asks for: its callers have one address's
    /// share together, but what one of them does is no evidence about another.
    case crowd(String)

    /// The address that bounds what is taken of the server; nil for no bound.
    var sharing: String? {
        switch self {
        case .nobody: nil
        case .network(let network), .crowd(let network): network
        }
    }

    /// The address that distinguishes one caller from another; nil where none does.
    var distinguishing: String? {
        if case .network(let network) = self { network } else { nil }
    }
}
