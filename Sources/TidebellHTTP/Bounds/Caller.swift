// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// On whose share a request is counted.
package enum Caller: Sendable, Hashable {
    /// A person, whatever the containers: or naming another one would be another caller.
    case account(AccountID)
    /// The network address of who has not said who it is.
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
    /// bits of an IPv6 address, of which everybody has as many as there are.
    package let network: String
    /// Whether it is of this machine, which is not counted unless that is asked for.
    package private(set) var isLoopback: Bool
    /// The whole address.
    let address: IPAddress

    /// Reads an address; nil for what is none.
    package init?(_ text: String) {
        guard let address = IPAddress(text) else { return nil }
        self.init(address)
    }

    /// The same address, counted also where it is of this machine.
    var countedAnywhere: PeerAddress {
        var copy = self
        copy.isLoopback = false
        return copy
    }

    init(_ address: IPAddress) {
        self.address = address
        isLoopback = address.isLoopback
        let bytes = address.bytes
        network =
            switch (address.isShort, isLoopback) {
            case (true, _): bytes.map(String.init).joined(separator: ".")
            case (false, true): "::1"
            case (false, false): Hex.text(Array(bytes.prefix(8))) + "::/64"
            }
    }
}
