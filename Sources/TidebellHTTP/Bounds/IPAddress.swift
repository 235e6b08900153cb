// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An IPv4 or IPv6 address; an IPv4 address that is written as an IPv6 one is the former.
struct IPAddress: Sendable, Hashable {
    /// 4 or 16, in the network's order.
    let bytes: [UInt8]

    private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    /// Reads an address; nil for what is none.
    init?(_ text: some StringProtocol) {
        // A zone, such as of fe80::1%eth0, belongs to this machine's view of it.
        let text = String(text.prefix { $0 != "%" })
        var short = in_addr()
        if inet_pton(AF_INET, text, &short) == 1 {
            bytes = withUnsafeBytes(of: short) { Array($0) }
            return
        }
        var long = in6_addr()
        guard inet_pton(AF_INET6, text, &long) == 1 else { return nil }
        let all = withUnsafeBytes(of: long) { Array($0) }
        let isMapped = all.starts(with: Self.mappedPrefix)
        bytes = isMapped ? Array(all.dropFirst(Self.mappedPrefix.count)) : all
    }

    /// The IPv6 address that begins with so many bytes of this one and has none after them, as RFC 5952 writes it.
    func start(of count: Int) -> String {
        let start = Array(bytes.prefix(count)) + Array(repeating: 0, count: 16 - count)
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(AF_INET6, start, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Whether it is an IPv4 address.
    var isShort: Bool { bytes.count == 4 }

    /// Whether it is of this machine.
    var isLoopback: Bool {
        isShort
            ? bytes.first == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }
}

/// The addresses that begin alike: `10.0.0.0/8`, `fd00::/8`, or one address.
struct IPNetwork: Sendable, Hashable {
    private let address: IPAddress
    /// The bits at the beginning that all its addresses have.
    private let length: Int

    /// Reads an address, with the length of the prefix or without; nil for what is neither.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ IPAddress($0) }) else { return nil }
        self.address = address
        let bits = address.bytes.count * 8
        guard parts.count == 2 else {
            length = bits
            return
        }
        guard !parts[1].isEmpty, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let length = Int(parts[1]), length <= bits
        else { return nil }
        self.length = length
    }

    /// Whether an address is of this network.
    func contains(_ other: IPAddress) -> Bool {
        guard other.bytes.count == address.bytes.count else { return false }
        let whole = length / 8
        guard other.bytes.prefix(whole) == address.bytes.prefix(whole) else { return false }
        let rest = length % 8
        return rest == 0 || (other.bytes[whole] ^ address.bytes[whole]) >> (8 - rest) == 0
    }
}
