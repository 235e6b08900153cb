// SPDX-License-Identifier: Apache-2.0

/// The types of parameters; the raw value is PostgreSQL's OID.
package enum PostgresType: UInt32, Sendable, Hashable {
    /// What the statement makes of it: for a NULL, which is one of every type.
    case unknown = 0
    case int8 = 20
    case bytea = 17
    case int8Array = 1016
    case byteaArray = 1001
}

/// The value of a `$1` of a statement, sent in binary with its type said.
package enum PostgresValue: Sendable, Hashable {
    /// NULL of a type.
    case null(PostgresType)
    /// An int8.
    case int64(Int64)
    /// A bytea.
    case bytea([UInt8])
    /// A bytea of the text's UTF-8: U+0000 and the order of bytes are kept, which PostgreSQL's
    /// text does neither.
    case text(String)
    /// An int8[] of one dimension; nil is NULL.
    case int64Array([Int64?])
    /// A bytea[] of one dimension; nil is NULL.
    case byteaArray([[UInt8]?])

    /// The type that the server is told.
    package var type: PostgresType {
        switch self {
        case .null(let type): type
        case .int64: .int8
        case .bytea, .text: .bytea
        case .int64Array: .int8Array
        case .byteaArray: .byteaArray
        }
    }
}
