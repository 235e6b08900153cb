// SPDX-License-Identifier: Apache-2.0
internal import CTidebellPostgres

/// The parameters of one statement as libpq takes them; used again for the next.
struct ParameterBuffer {
    /// What stays allocated between statements.
    private static let mostKept = 1 << 20

    /// All values one after the other.
    private var bytes: [UInt8] = []
    /// Where each begins; nil is NULL.
    private var starts: [Int?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []
    /// The OIDs.
    private(set) var types: [UInt32] = []

    /// How many bytes the values take.
    var byteCount: Int { bytes.count }
    /// How many values there are.
    var count: Int32 { Int32(clamping: starts.count) }

    /// Takes the values of the next statement.
    mutating func fill(_ values: [PostgresValue]) {
        bytes.removeAll(keepingCapacity: bytes.capacity <= Self.mostKept)
        starts.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        types.removeAll(keepingCapacity: true)
        while formats.count < values.count { formats.append(1) }
        for value in values {
            let start = bytes.count
            types.append(value.type.rawValue)
            let isThere = append(value)
            starts.append(isThere ? start : nil)
            lengths.append(Int32(clamping: bytes.count - start))
        }
        // An empty value needs an address too: none means NULL.
        bytes.append(0)
    }

    /// Calls `body` with what libpq's functions take.
    func withParameters<Result>(
        _ body: (
            _ values: UnsafePointer<UnsafePointer<CChar>?>?, _ lengths: UnsafePointer<Int32>?,
            _ formats: UnsafePointer<Int32>?
        ) -> Result
    ) -> Result {
        guard !starts.isEmpty else { return body(nil, nil, nil) }
        return bytes.withUnsafeBytes { bytes in
            let pointers = starts.map { start in
                start.flatMap { start in
                    bytes.baseAddress?.advanced(by: start).assumingMemoryBound(to: CChar.self)
                }
            }
            return body(pointers, lengths, formats)
        }
    }

    /// Writes a value and returns whether it is one, and not NULL.
    private mutating func append(_ value: PostgresValue) -> Bool {
        switch value {
        case .null: return false
        case .int64(let number): appendInteger(number)
        case .bytea(let value): bytes.append(contentsOf: value)
        case .text(let text): bytes.append(contentsOf: text.utf8)
        case .int64Array(let elements):
            appendArray(elements, of: .int8) { buffer, number in buffer.appendInteger(number) }
        case .byteaArray(let elements):
            appendArray(elements, of: .bytea) { buffer, value in
                buffer.bytes.append(contentsOf: value)
            }
        }
        return true
    }

    private mutating func appendInteger(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Writes an array of one dimension: dimensions, whether NULL occurs, the elements' type,
    /// length and lowest index, then each element behind its length.
    private mutating func appendArray<Element>(
        _ elements: [Element?], of type: PostgresType,
        _ append: (inout ParameterBuffer, Element) -> Void
    ) {
        appendInteger(Int32(elements.isEmpty ? 0 : 1))
        appendInteger(Int32(elements.contains { $0 == nil } ? 1 : 0))
        appendInteger(type.rawValue)
        guard !elements.isEmpty else { return }
        appendInteger(Int32(clamping: elements.count))
        appendInteger(Int32(1))
        for element in elements {
            guard let element else {
                appendInteger(Int32(-1))
                continue
            }
            let start = bytes.count
            appendInteger(Int32(0))
            append(&self, element)
            let length = Int32(clamping: bytes.count - start - 4)
            withUnsafeBytes(of: length.bigEndian) { digits in
                bytes.replaceSubrange(start..<start + 4, with: digits)
            }
        }
    }
}
