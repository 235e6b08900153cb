// SPDX-License-Identifier: Apache-2.0
import CTidebellZlib

/// Compresses answers and expands requests (gzip, RFC 1952), by the system's zlib.
enum Gzip {
    /// Shorter answers are sent as they are: a packet of the network holds them anyway.
    static let fewestBytes = 1024
    /// Longer answers are sent as they are: each is compressed in one go, on a thread that others wait
    /// for.
    static let mostBytes = 8 << 20
    /// How much is expanded at a time.
    private static let pieceBytes = 64 << 10
    /// Bits of the window, and that it is gzip and nothing else.
    private static let windowBits = MAX_WBITS + 16
    /// The fastest level: what is sent is JSON, which any level makes small.
    private static let level = Z_BEST_SPEED
    /// What zlib takes for compressing; more is for large files.
    private static let memoryLevel: Int32 = 8

    /// Why something cannot be expanded.
    enum Failure: Error, Hashable {
        /// It would have more bytes than it may.
        case tooLong
        /// It is not gzip, or not all of it, or something follows.
        case damaged
    }

    /// Returns `bytes` compressed; nil where that makes them no shorter.
    static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        guard
            deflateInit2_(
                &stream, level, Z_DEFLATED, windowBits, memoryLevel, Z_DEFAULT_STRATEGY,
                ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { return nil }
        defer { deflateEnd(&stream) }
        var isWhole = false
        // zlib's input is not const, and left as it is.
        let compressed = [UInt8](unsafeUninitializedCapacity: bytes.count) { output, count in
            bytes.withUnsafeBufferPointer { input in
                stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                isWhole = deflate(&stream, Z_FINISH) == Z_STREAM_END
                count = output.count - Int(stream.avail_out)
            }
        }
        return isWhole && compressed.count < bytes.count ? compressed : nil
    }

    /// Returns what was compressed, at most `limit` bytes.
    ///
    /// However small the compressed bytes are, no more than the limit is made of them.
    ///
    /// - Parameter count: Called with how many bytes come next, before they are kept; what it throws
    ///   ends this.
    static func expanded(
        _ bytes: [UInt8], upTo limit: Int, counting count: (Int) throws -> Void
    ) throws -> [UInt8] {
        var stream = z_stream()
        guard
            inflateInit2_(
                &stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { throw Failure.damaged }
        defer { inflateEnd(&stream) }
        var piece = [UInt8](repeating: 0, count: min(pieceBytes, limit + 1))
        var expanded: [UInt8] = []
        return try bytes.withUnsafeBufferPointer { input in
            stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.avail_in = UInt32(input.count)
            while true {
                let (status, made) = piece.withUnsafeMutableBufferPointer { output in
                    stream.next_out = output.baseAddress
                    stream.avail_out = UInt32(output.count)
                    let status = inflate(&stream, Z_NO_FLUSH)
                    return (status, output.count - Int(stream.avail_out))
                }
                guard status == Z_OK || status == Z_STREAM_END else { throw Failure.damaged }
                guard expanded.count + made <= limit else { throw Failure.tooLong }
                try count(made)
                expanded.append(contentsOf: piece[..<made])
                guard status == Z_OK else { break }
            }
            guard stream.avail_in == 0 else { throw Failure.damaged }
            return expanded
        }
    }
}
