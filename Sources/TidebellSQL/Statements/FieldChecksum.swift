// SPDX-License-Identifier: Apache-2.0
import Foundation
package import TidebellCore
import TidebellWire

/// What proves that a record is what was written.
///
/// Fields go from the file to the socket unparsed, and SQLite has no checksums of its
/// own: without this a bad page would become an answer that is no JSON. It covers what stands
/// before the fields too, except the name and the position, which the index of names has as well.
/// Rows of older versions have a checksum of their fields alone.
package enum FieldChecksum {
    /// The name under which SQL knows ``ofReadable(_:)``.
    package static let functionName = "field_checksum"

    /// Returns the checksum of a record.
    package static func of(_ record: StoredRecord) -> Int64 {
        of(record, fields: of(record.fields.json))
    }

    /// Returns the checksum of fields, which differs for any two texts that differ in eight bytes
    /// or less that stand together.
    package static func of(_ bytes: [UInt8]) -> Int64 { bytes.withUnsafeBytes { of($0) } }

    /// Whether a record is what was written; without a checksum, whether its fields can be read.
    ///
    /// - Parameter isPossible: Whether what stands before the fields can have been written; asked
    ///   of rows of older versions only, since their checksums do not show it.
    package static func admits(
        _ record: StoredRecord, _ checksum: Int64?, ifOlder isPossible: @autoclosure () -> Bool
    ) -> Bool {
        // Written by a version without checksums, and damaged before it was migrated.
        guard let checksum else { return isPossible() && isReadable(record.fields.json) }
        let fields = of(record.fields.json)
        // Most were written with what stands before the fields.
        return of(record, fields: fields) == checksum || isPossible() && fields == checksum
    }

    /// The checksum of what stands before the fields, and of these.
    private static func of(_ record: StoredRecord, fields: Int64) -> Int64 {
        var sum = UInt64(bitPattern: fields)
        func add(_ number: Int64) { sum = mixed(sum ^ UInt64(bitPattern: number)) }
        func add(_ text: String) {
            let known = text.utf8.withContiguousStorageIfAvailable {
                of(UnsafeRawBufferPointer($0))
            }
            add(known ?? of(Array(text.utf8)))
        }
        func add(_ stamp: RecordStamp) {
            add(stamp.timestamp)
            add(stamp.userRecordName)
            add(stamp.deviceID)
        }
        add(record.type)
        add(record.created)
        add(record.modified)
        // No parent is another one than an empty name.
        add(record.parent == nil ? 0 : 1)
        add(record.parent ?? "")
        add(record.isDeleted ? 1 : 0)
        add(record.size)
        return Int64(bitPattern: sum)
    }

    private static func of(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        var sum = 0x9E37_79B9_7F4A_7C15 ^ UInt64(truncatingIfNeeded: bytes.count)
        var index = 0
        while index &+ 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            sum = mixed(sum ^ UInt64(littleEndian: word))
            index &+= 8
        }
        var rest: UInt64 = 0
        while index < bytes.count {
            rest = rest << 8 | UInt64(bytes[index])
            index &+= 1
        }
        return Int64(bitPattern: mixed(sum ^ rest))
    }

    /// Whether the bytes are fields of a record.
    package static func isReadable(_ bytes: [UInt8]) -> Bool {
        (try? RecordFields(json: bytes).forEach { _, _ in }) != nil
    }

    /// Spreads every bit over the word, and can be undone: no two words become the same.
    private static func mixed(_ word: UInt64) -> UInt64 {
        var word = word
        word = (word ^ (word >> 32)) &* 0xD6E8_FEB8_6659_FD93
        return word ^ (word >> 29)
    }
}
