// SPDX-License-Identifier: Apache-2.0

/// An append-only writer of compact UTF-8 JSON.
///
/// Commas are placed by the writer; member order is the order of the calls. The
/// caller keeps objects and arrays balanced.
package struct JSONWriter {
    /// What was written so far.
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false
    /// The zone ID written last: a page of changes repeats one for every record.
    private var lastZoneID: (zoneID: ZoneID, json: [UInt8])?
    /// The members of the author written last: most records of a page have the same.
    private var lastAuthor: (user: String, device: String, members: [UInt8])?

    /// Creates a writer with room for `capacity` bytes.
    package init(capacity: Int = 256) {
        bytes.reserveCapacity(capacity)
    }

    /// Returns the bytes that `body` writes.
    package static func write(
        capacity: Int = 256,
        _ body: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: capacity)
        body(&writer)
        return writer.bytes
    }

    /// Writes an object whose members `body` writes.
    package mutating func object(_ body: (inout JSONWriter) -> Void) {
        open(UInt8(ascii: "{"))
        body(&self)
        close(UInt8(ascii: "}"))
    }

    /// Writes an array whose elements `body` writes.
    package mutating func array(_ body: (inout JSONWriter) -> Void) {
        open(UInt8(ascii: "["))
        body(&self)
        close(UInt8(ascii: "]"))
    }

    /// Writes an array with one element for each value.
    package mutating func array<Values: Sequence>(
        _ values: Values,
        _ body: (inout JSONWriter, Values.Element) -> Void
    ) {
        open(UInt8(ascii: "["))
        for value in values { body(&self, value) }
        close(UInt8(ascii: "]"))
    }

    /// Writes a member name; its value must follow.
    package mutating func key(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a member name that is only known at run time.
    package mutating func key(_ name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a string.
    package mutating func string(_ text: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { escape($0) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a whole number.
    package mutating func number(_ value: some FixedWidthInteger) {
        separate()
        bytes.append(contentsOf: String(value).utf8)
    }

    /// Writes a number; infinities and NaN, which JSON lacks, become null.
    package mutating func number(_ value: Double) {
        guard value.isFinite else { return null() }
        separate()
        bytes.append(contentsOf: value.description.utf8)
    }

    /// Writes `true` or `false`.
    package mutating func bool(_ value: Bool) {
        separate()
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    /// Writes `null`.
    package mutating func null() {
        separate()
        bytes.append(contentsOf: "null".utf8)
    }

    /// Writes a value that is JSON already.
    package mutating func raw(_ json: [UInt8]) {
        separate()
        bytes.append(contentsOf: json)
    }

    /// Writes a zone ID, encoding the same one only once in a row.
    mutating func zoneID(_ zoneID: ZoneID) {
        if let lastZoneID, lastZoneID.zoneID == zoneID { return raw(lastZoneID.json) }
        let json = JSONWriter.write(capacity: 128, zoneID.encode(to:))
        lastZoneID = (zoneID, json)
        raw(json)
    }

    /// Writes who changed a record, encoding the same only once in a row.
    mutating func author(user: String, device: String) {
        if let lastAuthor, lastAuthor.user == user, lastAuthor.device == device {
            return raw(lastAuthor.members)
        }
        let members = JSONWriter.write { writer in
            writer.member("userRecordName", user)
            writer.member("deviceID", device)
        }
        lastAuthor = (user, device, members)
        raw(members)
    }

    // MARK: -

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func open(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func escape(_ utf8: UnsafeBufferPointer<UInt8>) {
        var clean = 0
        var index = 0
        while index < utf8.count {
            let byte = utf8[index]
            index += 1
            if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { continue }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[clean..<index - 1]))
            bytes.append(contentsOf: Self.escapes[Int(byte)].utf8)
            clean = index
        }
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[clean...]))
    }

    /// The escape of every byte that needs one; the others are empty.
    private static let escapes: [String] = (0..<128).map { byte in
        switch UInt8(byte) {
        case UInt8(ascii: "\""): return "\\\""
        case UInt8(ascii: "\\"): return "\\\\"
        case 0x0A: return "\\n"
        case 0x0D: return "\\r"
        case 0x09: return "\\t"
        case 0..<0x10: return "\\u000" + String(byte, radix: 16)
        case 0..<0x20: return "\\u00" + String(byte, radix: 16)
        default: return ""
        }
    }
}

extension JSONWriter {
    /// Writes a member with a string value.
    package mutating func member(_ name: StaticString, _ value: String) {
        key(name)
        string(value)
    }

    /// Writes a member with a string value unless it is nil.
    package mutating func member(_ name: StaticString, _ value: String?) {
        if let value { member(name, value) }
    }

    /// Writes a member with a whole number.
    package mutating func member(_ name: StaticString, _ value: some FixedWidthInteger) {
        key(name)
        number(value)
    }

    /// Writes a member with a boolean.
    package mutating func member(_ name: StaticString, _ value: Bool) {
        key(name)
        bool(value)
    }

    /// Writes a member with an array of strings unless it is nil.
    package mutating func member(_ name: StaticString, _ values: [String]?) {
        guard let values else { return }
        key(name)
        array(values) { $0.string($1) }
    }
}
