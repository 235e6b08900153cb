// SPDX-License-Identifier: Apache-2.0

/// The type tag of a field (web-services 4.3).
package enum FieldType: String, Sendable, Hashable, CaseIterable {
    case string = "STRING"
    case int64 = "INT64"
    case double = "DOUBLE"
    case timestamp = "TIMESTAMP"
    case bytes = "BYTES"
    case reference = "REFERENCE"
    case asset = "ASSETID"
    case location = "LOCATION"
    case stringList = "STRING_LIST"
    case int64List = "INT64_LIST"
    case doubleList = "DOUBLE_LIST"
    case timestampList = "TIMESTAMP_LIST"
    case bytesList = "BYTES_LIST"
    case referenceList = "REFERENCE_LIST"
    case assetList = "ASSETID_LIST"
    case locationList = "LOCATION_LIST"

    /// What tags of encrypted values begin with: they mark it without `isEncrypted`.
    static let encryptedPrefix = "ENCRYPTED_"

    /// Creates the type a request's tag names; `ASSET` is the sending form of
    /// `ASSETID`, `ENCRYPTED_BYTES` that of bytes that are encrypted.
    package init?(tag: String) {
        guard let type = Self.byTag[tag] else { return nil }
        self = type
    }

    /// The types by their tags: each field of each record has one, and a raw value is found by comparing it
    /// with one after the other.
    private static let byTag: [String: FieldType] = {
        var types: [String: FieldType] = [
            "ASSET": .asset, "ASSET_LIST": .assetList, "ENCRYPTED_BYTES": .bytes,
            "ENCRYPTED_BYTES_LIST": .bytesList,
        ]
        for type in allCases { types[type.rawValue] = type }
        return types
    }()

    /// The type of a list's elements; nil for a type that is no list.
    package var element: FieldType? {
        switch self {
        case .stringList: .string
        case .int64List: .int64
        case .doubleList: .double
        case .timestampList: .timestamp
        case .bytesList: .bytes
        case .referenceList: .reference
        case .assetList: .asset
        case .locationList: .location
        default: nil
        }
    }

    /// The list of this type; nil for a list.
    package var list: FieldType? {
        switch self {
        case .string: .stringList
        case .int64: .int64List
        case .double: .doubleList
        case .timestamp: .timestampList
        case .bytes: .bytesList
        case .reference: .referenceList
        case .asset: .assetList
        case .location: .locationList
        default: nil
        }
    }
}
