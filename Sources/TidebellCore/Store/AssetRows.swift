// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What identifies the content of a file: the SHA-256 of its bytes in
/// hexadecimal digits. Equal files are kept once.
package struct AssetContent: RawRepresentable, Sendable, Hashable {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// A file that the server keeps for records (ASSET-1).
package struct StoredAsset: Sendable, Hashable {
    /// The sizes in bytes that a file can have: a store that has another one is damaged.
    package static let sizes: ClosedRange<Int64> = 0...(1 << 50)

    package var content: AssetContent
    /// The name it has among the kept files; never used twice.
    package var file: String
    package var size: Int64
    /// The checksum that clients get (web-services 4.4).
    package var checksum: String
    /// The key its bytes are encrypted with, wrapped by the root key; nil where they are not.
    package var key: [UInt8]?

    /// Creates a value.
    package init(
        content: AssetContent, file: String, size: Int64, checksum: String, key: [UInt8]? = nil
    ) {
        self.key = key
        self.content = content
        self.file = file
        self.size = size
        self.checksum = checksum
    }

    /// Whether a name is one that leads nowhere but to a file among the kept ones.
    package static func isPlainName(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

/// The field that a file is for; its record need not exist yet.
package struct AssetField: Sendable, Hashable {
    package var database: DatabaseKey
    package var zoneName: String
    /// Nil stands for any record of the zone: so are files that stand in one already.
    package var recordName: String?
    package var fieldName: String?

    /// Creates a value.
    package init(
        database: DatabaseKey, zoneName: String, recordName: String?, fieldName: String?
    ) {
        self.database = database
        self.zoneName = zoneName
        self.recordName = recordName
        self.fieldName = fieldName
    }
}

/// An upload that was asked for and has not come yet.
package struct AwaitedUpload: Sendable, Hashable {
    /// The hash of the token in the upload's URL.
    package var tokenHash: [UInt8]
    /// Who asked for it; nil where that was not noted yet.
    package var user: UserID?
    /// The session it was asked for in, with which it ends; nil where that was not noted yet.
    package var session: SessionID?
    package var field: AssetField
    /// The most bytes the file may have.
    package var byteLimit: Int64
    package var expiresAt: Instant

    /// Creates a value.
    package init(
        tokenHash: [UInt8], user: UserID? = nil, session: SessionID? = nil, field: AssetField,
        byteLimit: Int64, expiresAt: Instant
    ) {
        self.tokenHash = tokenHash
        self.user = user
        self.session = session
        self.field = field
        self.byteLimit = byteLimit
        self.expiresAt = expiresAt
    }
}
