// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TidebellWire

/// What tells that a record's fields are the bytes that were written.
///
/// Fields go from the file to the socket unparsed, and SQLite has no checksums of its
/// own: without this a bad page would become an answer that is no JSON.
enum FieldChecksum {
    /// The name under which SQL knows ``ofReadable(_:)``.
    static let functionName = "field_checksum"

    /// Returns the checksum, which differs for any two texts that differ in eight bytes or
    /// less that stand together.
    static func of(_ bytes: [UInt8]) -> Int64 {
        bytes.withUnsafeBytes { bytes in
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
    }

    /// Whether `bytes` are what was written; without a checksum, whether they can be read.
    static func admits(_ bytes: [UInt8], _ checksum: Int64?) -> Bool {
        if let checksum { return of(bytes) == checksum }
        // Written by a version without checksums, and damaged before it was migrated.
        return isReadable(bytes)
    }

    /// Whether the bytes are fields of a record.
    static func isReadable(_ bytes: [UInt8]) -> Bool {
        (try? RecordFields(json: bytes).forEach { _, _ in }) != nil
    }

    /// Lets SQL make the checksums of fields that are readable; NULL for others.
    static func define(in database: Database) {
        database.add(
            function: DatabaseFunction(functionName, argumentCount: 1, pure: true) { values in
                guard let data = Data.fromDatabaseValue(values[0]) else { return nil }
                let bytes = [UInt8](data)
                return isReadable(bytes) ? of(bytes) : nil
            }
        )
    }

    /// Spreads every bit over the word, and can be undone: no two words become the same.
    private static func mixed(_ word: UInt64) -> UInt64 {
        var word = word
        word = (word ^ (word >> 32)) &* 0xD6E8_FEB8_6659_FD93
        return word ^ (word >> 29)
    }
}
