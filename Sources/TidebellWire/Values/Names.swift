// SPDX-License-Identifier: Apache-2.0

/// Which of a container's databases; the raw value is the path segment.
package enum DatabaseScope: String, Sendable, Hashable, CaseIterable {
    case `public`
    case `private`
    case shared

    /// The number push payloads use, which differs from `CKDatabase.Scope`
    /// (PUSH-18).
    package var payloadCode: Int {
        switch self {
        case .private: 1
        case .public: 2
        case .shared: 3
        }
    }

    /// Creates the database that a push's number stands for; nil for one it does not know.
    package init?(payloadCode: Int) {
        guard let scope = Self.allCases.first(where: { $0.payloadCode == payloadCode }) else {
            return nil
        }
        self = scope
    }
}

/// Which of a container's environments; the raw value is the path segment.
package enum CloudEnvironment: String, Sendable, Hashable, CaseIterable {
    case development
    case production
}

/// A container and environment: the space in which users, schema and databases
/// are separate (SUB-11, ENV-6).
package struct ContainerKey: Sendable, Hashable {
    /// The container's identifier, such as `iCloud.org.example.notes`.
    package var container: String
    /// The environment.
    package var environment: CloudEnvironment

    /// Creates a key.
    package init(container: String, environment: CloudEnvironment) {
        self.container = container
        self.environment = environment
    }
}

/// A zone as the wire names it.
package struct ZoneID: Sendable, Hashable {
    /// The name of the default zone of the public and private databases (ZONE-1).
    package static let defaultName = "_defaultZone"
    /// The owner that stands for "the current user" (ZONE-8).
    package static let currentUser = "__defaultOwner__"
    /// The owner of the public database's zone, as pushes name it (PUSH-18).
    package static let publicOwner = "_defaultOwner"

    /// The zone's name.
    package var zoneName: String
    /// The owner's user record name; nil means the caller.
    package var ownerRecordName: String?

    /// Creates a zone ID.
    package init(zoneName: String, ownerRecordName: String? = nil) {
        self.zoneName = zoneName
        self.ownerRecordName = ownerRecordName
    }

    /// Whether this names the default zone.
    package var isDefault: Bool { zoneName == Self.defaultName }
}

/// When a record was created or changed, by whom, on which device.
package struct RecordStamp: Sendable, Hashable {
    /// Milliseconds since 1970.
    package var timestamp: Int64
    /// The user's record name.
    package var userRecordName: String
    /// The device that wrote, by a name that others cannot use for it; empty when
    /// unknown.
    package var deviceID: String

    /// Creates a stamp.
    package init(timestamp: Int64, userRecordName: String, deviceID: String) {
        self.timestamp = timestamp
        self.userRecordName = userRecordName
        self.deviceID = deviceID
    }
}
