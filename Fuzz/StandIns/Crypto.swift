// SPDX-License-Identifier: Apache-2.0
public import Foundation

// Stands in for the module of the same name, so that fuzzing builds without BoringSSL: the
// parsers that are fuzzed compute no checksums with it.

/// Hash functions that are broken as such.
public enum Insecure {
    /// No SHA-1: its digest is always empty.
    public struct SHA1: Sendable {
        /// Creates a hash.
        public init() {}

        /// Takes nothing.
        public mutating func update(data: some DataProtocol) {}

        /// Returns an empty digest.
        public func finalize() -> [UInt8] { [] }
    }
}

/// No SHA-256: its digest is always empty.
public enum SHA256 {
    /// Returns an empty digest.
    public static func hash(data: some DataProtocol) -> [UInt8] { [] }
}
