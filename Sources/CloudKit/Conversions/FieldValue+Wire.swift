// SPDX-License-Identifier: Apache-2.0
import TidebellLocation
import Foundation
import TidebellWire

/// Why a value cannot be sent, as the end of a sentence.
struct UnsendableValue: Error {
    let reason: String
}

extension CKRecord.FieldValue {
    /// Creates the value of a field of an answer.
    ///
    /// - Parameter recordID: The record, in whose zone references without one point.
    init(_ wire: TidebellWire.FieldValue, of recordID: CKRecord.ID, in database: DatabaseConnection)
    {
        switch wire {
        case .string(let text): self = .string(text)
        case .int64(let number): self = .int64(number)
        case .double(let number): self = .double(number)
        case .timestamp(let time): self = .date(Date(millisecondsSince1970: time))
        case .bytes(let bytes): self = .bytes(Data(bytes))
        case .reference(let reference):
            self = .reference(CKRecord.Reference(reference, of: recordID, in: database))
        case .asset(let asset): self = .asset(CKAsset(asset))
        case .location(let location): self = .location(CLLocation(location))
        case .list(_, let elements):
            self = .list(elements.map { Self($0, of: recordID, in: database) })
        }
    }

    /// Returns the value for a request.
    ///
    /// - Parameter zoneID: The record's zone, which references into it do not name.
    func wire(
        in zoneID: CKRecordZone.ID,
        of database: DatabaseConnection
    ) throws(UnsendableValue) -> TidebellWire.FieldValue {
        switch self {
        case .string(let text): return .string(text)
        case .int64(let number): return .int64(number)
        case .double(let number):
            guard number.isFinite else {
                throw UnsendableValue(reason: "\(number) is not a number that CloudKit can store.")
            }
            return .double(number)
        case .date(let date):
            guard date.isFinite else {
                throw UnsendableValue(reason: "the date is not a valid number of seconds.")
            }
            return .timestamp(date.millisecondsSince1970)
        case .bytes(let data): return .bytes([UInt8](data))
        case .reference(let reference):
            return .reference(reference.wire(in: zoneID, of: database))
        // What it is waits for the upload.
        case .asset: return .asset(.pending)
        case .location(let location): return .location(try location.wire())
        case .list(let elements):
            var values: [TidebellWire.FieldValue] = []
            for element in elements { values.append(try element.wire(in: zoneID, of: database)) }
            return .list(values.first?.type?.list, values)
        }
    }
}

extension CKRecord.Reference {
    fileprivate convenience init(
        _ wire: WireReference,
        of recordID: CKRecord.ID,
        in database: DatabaseConnection
    ) {
        let zoneID = wire.zoneID.map(database.zoneID) ?? recordID.zoneID
        self.init(
            recordID: CKRecord.ID(unchecked: wire.recordName, zoneID: zoneID),
            action: wire.action == .deleteSelf ? .deleteSelf : .none
        )
    }

    fileprivate func wire(
        in zoneID: CKRecordZone.ID,
        of database: DatabaseConnection
    ) -> WireReference {
        WireReference(
            recordName: recordID.recordName,
            zoneID: recordID.zoneID == zoneID ? nil : database.wire(recordID.zoneID),
            action: action == .deleteSelf ? .deleteSelf : .none
        )
    }
}

extension CKAsset {
    /// An asset as answers name it; its content is not downloaded yet.
    fileprivate convenience init(_ wire: WireAsset) {
        self.init(stored: StoredFile(wire), fileURL: nil)
    }
}

extension CLLocation {
    // Core Location's numbers for what is not known.
    private static let unknown = -1.0

    fileprivate convenience init(_ wire: WireLocation) {
        self.init(
            coordinate: CLLocationCoordinate2D(
                latitude: wire.latitude,
                longitude: wire.longitude
            ),
            altitude: wire.altitude ?? 0,
            horizontalAccuracy: wire.horizontalAccuracy ?? 0,
            verticalAccuracy: wire.verticalAccuracy ?? Self.unknown,
            course: wire.course ?? Self.unknown,
            speed: wire.speed ?? Self.unknown,
            timestamp: Date(millisecondsSince1970: wire.timestamp ?? 0)
        )
    }

    fileprivate func wire() throws(UnsendableValue) -> WireLocation {
        let numbers = [
            coordinate.latitude, coordinate.longitude, horizontalAccuracy, verticalAccuracy,
            altitude, speed, course,
        ]
        guard numbers.allSatisfy(\.isFinite) else {
            throw UnsendableValue(reason: "the location has numbers CloudKit cannot store.")
        }
        guard timestamp.isFinite else {
            throw UnsendableValue(reason: "the location's timestamp is not a valid date.")
        }
        return WireLocation(
            latitude: coordinate.latitude,
            longitude: coordinate.longitude,
            horizontalAccuracy: horizontalAccuracy,
            verticalAccuracy: verticalAccuracy < 0 ? nil : verticalAccuracy,
            altitude: altitude,
            speed: speed < 0 ? nil : speed,
            course: course < 0 ? nil : course,
            timestamp: timestamp.millisecondsSince1970
        )
    }
}

extension Date {
    /// Creates a time of the wire.
    init(millisecondsSince1970 milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// Whether this is a time at all; what a calculation with no result makes is none.
    var isFinite: Bool { timeIntervalSinceReferenceDate.isFinite }

    /// The time for the wire, rounded; times beyond what the wire can express become the
    /// first or last it can.
    var millisecondsSince1970: Int64 {
        let milliseconds = (timeIntervalSince1970 * 1000).rounded()
        if let exact = Int64(exactly: milliseconds) { return exact }
        return milliseconds < 0 ? .min : .max
    }
}
