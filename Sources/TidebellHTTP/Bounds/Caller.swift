// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore

/// On whose share a request is counted.
package enum Caller: Sendable, Hashable {
    case user(UserID)
    /// The network address of who has not said who it is.
    case address(String)
}

/// The network address of a client.
package struct PeerAddress: Sendable, Hashable {
    /// The part that one subscriber of a network has: an IPv4 address, or the first 64
    /// bits of an IPv6 address, of which everybody has as many as there are.
    package let network: String
    /// Whether it is of this machine.
    package let isLoopback: Bool

    /// Reads an address; nil for what is none.
    package init?(_ text: String) {
        // A zone, such as of fe80::1%eth0, belongs to this machine's view of it.
        let text = String(text.prefix { $0 != "%" })
        var short = in_addr()
        if inet_pton(AF_INET, text, &short) == 1 {
            self.init(withUnsafeBytes(of: short) { Array($0) })
            return
        }
        var long = in6_addr()
        guard inet_pton(AF_INET6, text, &long) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: long) { Array($0) }
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        if bytes.starts(with: mapped) {
            self.init(Array(bytes.dropFirst(mapped.count)))
            return
        }
        let isLoopback = bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
        self.init(
            network: isLoopback ? "::1" : Secret.hex(Array(bytes.prefix(8))) + "::/64",
            isLoopback: isLoopback
        )
    }

    private init(network: String, isLoopback: Bool) {
        self.network = network
        self.isLoopback = isLoopback
    }

    /// An IPv4 address.
    private init(_ bytes: [UInt8]) {
        self.init(
            network: bytes.map(String.init).joined(separator: "."),
            isLoopback: bytes.first == 127
        )
    }
}
