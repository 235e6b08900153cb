// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import Foundation

/// A dictionary of a push, in any of the forms programs hold it in.
struct PushDictionary {
    private let values: [String: Any]

    /// Wraps a Swift dictionary or an `NSDictionary`; nil for anything else.
    init?(_ value: Any?) {
        guard let values = value as? [AnyHashable: Any] else { return nil }
        var byText: [String: Any] = [:]
        for (key, value) in values {
            if let key = key.base as? String { byText[key] = value }
        }
        self.values = byText
    }

    /// The raw value of a key.
    subscript(key: String) -> Any? { values[key] }

    /// Tells whether there is anything under a key.
    func holds(_ key: String) -> Bool {
        values[key] != nil && !(values[key] is NSNull)
    }

    /// Returns a text.
    func string(_ key: String) -> String? { values[key] as? String }

    /// Returns a whole number, whatever its width (PUSH-22).
    func integer(_ key: String) -> Int? {
        switch values[key] {
        case let number as Int: number
        case let number as Int64: Int(exactly: number)
        case let number as any BinaryInteger: Int(exactly: number)
        case let number as NSNumber: Int(exactly: number.doubleValue)
        default: nil
        }
    }

    /// Returns a list of texts; numbers in it become texts.
    func strings(_ key: String) -> [String]? {
        guard let elements = values[key] as? [Any] else { return nil }
        return elements.map { ($0 as? String) ?? "\($0)" }
    }

    /// Returns a number.
    func double(_ key: String) -> Double? {
        (values[key] as? NSNumber)?.doubleValue ?? values[key] as? Double
            ?? integer(key).map { Double($0) }
    }
}

// The values of desired keys (PUSH-27).
extension PushDictionary {
    /// Every value by its key; locations and references as objects of their classes.
    ///
    /// NB: times stay numbers, milliseconds since 1970: a push does not say which
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

    private func reference(zoneOwner: ZoneOwner) -> CKRecordReference? {
        guard let recordName = string("recordName") else { return nil }
        let zone = PushDictionary(self["zoneID"])
        let zoneID = zone?.string("zoneName").map { name in
            let owner = zoneOwner.name(zone?.string("ownerRecordName"))
            return CKRecordZoneID(unchecked: name, ownerName: owner)
        }
        return CKRecordReference(
            recordID: CKRecordID(unchecked: recordName, zoneID: zoneID ?? .default),
            action: string("action") == "DELETE_SELF" ? .deleteSelf : .none
        )
    }
}
