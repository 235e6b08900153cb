// SPDX-License-Identifier: Apache-2.0

/// The value of one field of a record (REC-4).
package enum FieldValue: Sendable, Hashable {
    case string(String)
    case int64(Int64)
    case double(Double)
    /// Milliseconds since 1970.
    case timestamp(Int64)
    case bytes([UInt8])
    case reference(WireReference)
    case asset(WireAsset)
    case location(WireLocation)
    /// Elements of one type; the type is kept because an empty list has none to
    /// show. Nil means an empty list whose type nobody named.
    case list(FieldType?, [FieldValue])

    /// The type tag; nil only for an empty list of unknown type.
    package var type: FieldType? {
        switch self {
        case .string: .string
        case .int64: .int64
        case .double: .double
        case .timestamp: .timestamp
        case .bytes: .bytes
        case .reference: .reference
        case .asset: .asset
        case .location: .location
        case .list(let type, _): type
        }
    }
}

/// A field: its value and whether it is stored encrypted (REC-11).
package struct Field: Sendable, Hashable {
    /// The farthest a time can be from its milliseconds, in nanoseconds: more than half a
    /// millisecond, since a program's own times round on either side of the middle.
    package static let maximumNanoseconds: Int64 = 999_999

    /// The value.
    package var value: FieldValue
    /// Whether the field belongs to `encryptedValues`.
    package var isEncrypted: Bool
    /// How far the time, or each time of the list, is from its milliseconds; empty when
    /// none is.
    ///
    /// Dates of programs are finer than a TIMESTAMP, and come back as they were saved.
    /// Clients without our extensions never see it; nothing is compared by it.
    package var nanoseconds: [Int64]

    /// Creates a field.
    ///
    /// - Precondition: `nanoseconds` has a number for each time of the value, or none.
    package init(_ value: FieldValue, isEncrypted: Bool = false, nanoseconds: [Int64] = []) {
        self.value = value
        self.isEncrypted = isEncrypted
        self.nanoseconds = nanoseconds.allSatisfy { $0 == 0 } ? [] : nanoseconds
    }
}

extension FieldValue {
    /// How many times it holds.
    package var timeCount: Int {
        switch self {
        case .timestamp: 1
        case .list(.timestampList, let elements): elements.count
        default: 0
        }
    }
}

/// A reference to another record of the same database (REF-1).
package struct WireReference: Sendable, Hashable {
    /// What happens to the source when the target is deleted.
    package enum Action: String, Sendable, Hashable {
        case none = "NONE"
        case deleteSelf = "DELETE_SELF"
        case validate = "VALIDATE"
    }

    /// The target's name.
    package var recordName: String
    /// The target's zone; nil means the zone of the record that holds it.
    package var zoneID: ZoneID?
    /// The action.
    package var action: Action

    /// Creates a reference.
    package init(recordName: String, zoneID: ZoneID? = nil, action: Action = .none) {
        self.recordName = recordName
        self.zoneID = zoneID
        self.action = action
    }
}

/// A file kept apart from its record, as the wire names it (web-services 4.4).
package struct WireAsset: Sendable, Hashable {
    /// The checksum of the bytes.
    package var fileChecksum: String
    /// The number of bytes.
    package var size: Int64
    /// The upload's receipt; only in requests and in answers about uploads.
    package var receipt: String?
    /// Where to fetch the bytes; only in answers.
    package var downloadURL: String?
    /// Opaque: clients hand it back unchanged; private and shared databases only.
    package var wrappingKey: String?
    /// Opaque: clients hand it back unchanged; private and shared databases only.
    package var referenceChecksum: String?
    /// By what the server knows the bytes; only in its store.
    package var content: String?

    /// Creates an asset value.
    package init(
        fileChecksum: String,
        size: Int64,
        receipt: String? = nil,
        downloadURL: String? = nil,
        wrappingKey: String? = nil,
        referenceChecksum: String? = nil,
        content: String? = nil
    ) {
        self.fileChecksum = fileChecksum
        self.size = size
        self.receipt = receipt
        self.downloadURL = downloadURL
        self.wrappingKey = wrappingKey
        self.referenceChecksum = referenceChecksum
        self.content = content
    }
}

/// A location on Earth; distances in metres, angles in degrees.
package struct WireLocation: Sendable, Hashable {
    package var latitude: Double
    package var longitude: Double
    package var horizontalAccuracy: Double?
    package var verticalAccuracy: Double?
    package var altitude: Double?
    package var speed: Double?
    package var course: Double?
    /// Milliseconds since 1970.
    package var timestamp: Int64?

    /// Creates a location.
    package init(
        latitude: Double,
        longitude: Double,
        horizontalAccuracy: Double? = nil,
        verticalAccuracy: Double? = nil,
        altitude: Double? = nil,
        speed: Double? = nil,
        course: Double? = nil,
        timestamp: Int64? = nil
    ) {
        self.latitude = latitude
        self.longitude = longitude
        self.horizontalAccuracy = horizontalAccuracy
        self.verticalAccuracy = verticalAccuracy
        self.altitude = altitude
        self.speed = speed
        self.course = course
        self.timestamp = timestamp
    }
}
