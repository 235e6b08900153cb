// SPDX-License-Identifier: Apache-2.0

/// Which bytes of a file a request asks for (RFC 9110, 14.2).
enum ByteRange: Equatable {
    /// All of them, which is also the answer to what is not understood.
    case all
    case part(Range<Int64>)
    /// None that the file has.
    case unsatisfiable

    /// Reads the header `Range` of a request for a file of `size` bytes.
    ///
    /// Several ranges at once are answered with the whole file, as is allowed.
    init(_ header: String?, size: Int64) {
        let unit = "bytes="
        guard let header, header.lowercased().hasPrefix(unit) else {
            self = .all
            return
        }
        let ends = header.dropFirst(unit.count).split(
            separator: "-", maxSplits: 1, omittingEmptySubsequences: false
        )
        guard ends.count == 2 else {
            self = .all
            return
        }
        switch (Self.number(ends[0]), Self.number(ends[1])) {
        case (let first?, let last?) where first <= last:
            self.init(from: first, to: last >= size ? size : last + 1, size: size)
        case (let first?, nil) where ends[1].isEmpty:
            self.init(from: first, to: size, size: size)
        case (nil, let count?) where ends[0].isEmpty:
            self.init(from: count == 0 ? size : max(0, size - count), to: size, size: size)
        default: self = .all
        }
    }

    private init(from start: Int64, to end: Int64, size: Int64) {
        self = start < size ? .part(start..<end) : .unsatisfiable
    }

    /// Reads digits; a number that no file reaches is the largest there is.
    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty,
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int64(text) ?? .max
    }
}
