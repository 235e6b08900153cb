// SPDX-License-Identifier: Apache-2.0
import Foundation

extension Time {
    /// The machine's time.
    package static let system = Time(
        now: { Instant(Date()) },
        clock: ContinuousClock()
    )
}

extension Randomness {
    /// The machine's secure source. Secrets are asked of it each, UUIDs share a call.
    package static let system = Randomness(
        makeUUID: { identifierNumbers.withLock { UUID.made(with: &$0) } },
        makeBytes: { count in drawn(count, of: UInt8.self) }
    )

    private static let identifierNumbers = Locked(IdentifierNumbers { drawn($0, of: UInt64.self) })
    /// The most bytes that the system gives in one call.
    private static let bytesPerCall = 256

    /// Random integers of the system, which needs neither a descriptor nor `/dev` for them.
    private static func drawn<Number: FixedWidthInteger>(
        _ count: Int, of type: Number.Type
    ) -> [Number] {
        var numbers = [Number](repeating: 0, count: count)
        numbers.withUnsafeMutableBytes { bytes in
            #if canImport(Darwin)
                arc4random_buf(bytes.baseAddress, bytes.count)
            #else
                for start in stride(from: 0, to: bytes.count, by: bytesPerCall) {
                    let part = UnsafeMutableRawBufferPointer(
                        rebasing: bytes[start..<min(start + bytesPerCall, bytes.count)])
                    let failed = getentropy(part.baseAddress, part.count)
                    precondition(failed == 0, "the system has no random numbers")
                }
            #endif
        }
        return numbers
    }
}
