// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension WirePushPayload {
    /// The database; the private one when the push names none or no known one.
    var databaseScope: CKDatabase.Scope {
        switch scope {
        case .public: .public
        case .shared: .shared
        case .private, nil: .private
        }
    }

    /// The zone; nil when the push does not name it.
    var zoneID: CKRecordZoneID? {
        zone.map {
            CKRecordZoneID(
                unchecked: $0.zoneName, ownerName: zoneOwner.name($0.ownerRecordName))
        }
    }

    /// How the push names the owners of zones.
    var zoneOwner: ZoneOwner { ZoneOwner(scope: scope, user: ownerRecordName) }
}
