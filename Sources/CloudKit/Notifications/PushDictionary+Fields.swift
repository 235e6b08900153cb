// SPDX-License-Identifier: Apache-2.0
import TidebellLocation
import Foundation
import TidebellWire

// The values of desired keys (PUSH-27).
extension PushDictionary {
    /// Every value by its key; locations and references as objects of their classes.
    ///
    /// NB: times stay numbers, milliseconds since 1970: a push does not show which
    /// numbers are times.
    func fieldValues(zoneOwner: ZoneOwner) -> [String: Any] {
        values.mapValues { value in
            guard let dictionary = PushDictionary(value) else { return value }
            return dictionary.location ?? dictionary.reference(zoneOwner: zoneOwner) ?? value
        }
    }

    private var location: CLLocation? {
        guard let latitude = double("latitude"), let longitude = double("longitude") else {
            return nil
        }
        return CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude),
            altitude: double("altitude") ?? 0,
            horizontalAccuracy: double("horizontalAccuracy") ?? 0,
            verticalAccuracy: double("verticalAccuracy") ?? -1,
            course: double("course") ?? -1,
            speed: double("speed") ?? -1,
            timestamp: Date(timeIntervalSince1970: (double("timestamp") ?? 0) / 1000)
        )
    }

    private func reference(zoneOwner: ZoneOwner) -> CKReference? {
        guard let recordName = string("recordName") else { return nil }
        let zone = PushDictionary(self["zoneID"])
        let zoneID = zone?.string("zoneName").map { name in
            let owner = zoneOwner.name(zone?.string("ownerRecordName"))
            return CKRecordZoneID(unchecked: name, ownerName: owner)
        }
        return CKReference(
            recordID: CKRecordID(unchecked: recordName, zoneID: zoneID ?? .default),
            action: string("action") == "DELETE_SELF" ? .deleteSelf : .none
        )
    }
}
