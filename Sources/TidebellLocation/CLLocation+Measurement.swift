// SPDX-License-Identifier: Apache-2.0
import Foundation

extension CLLocation {
    /// The measured values of a location.
    ///
    /// The defaults stand for "not measured"; units are those of the properties of
    /// ``CLLocation`` with the same names.
    struct Measurement: Sendable {
        var coordinate: CLLocationCoordinate2D
        var altitude: CLLocationDistance = 0
        var horizontalAccuracy: CLLocationAccuracy = 0
        var verticalAccuracy: CLLocationAccuracy = -1
        var course: CLLocationDirection = -1
        var courseAccuracy: CLLocationDirectionAccuracy = -1
        var speed: CLLocationSpeed = -1
        var speedAccuracy: CLLocationSpeedAccuracy = -1
        var timestamp = Date()
    }
}

extension CLLocation.Measurement {
    /// The archive key of each value, in the order of ``components``.
    ///
    /// One number per key: a damaged archive can change a number, never the shape.
    static let keys = [
        "latitude", "longitude", "altitude", "horizontalAccuracy", "verticalAccuracy",
        "course", "courseAccuracy", "speed", "speedAccuracy", "timestamp",
    ]

    /// Every value as a plain number, the time as seconds since 2001.
    var components: [Double] {
        [
            coordinate.latitude, coordinate.longitude, altitude,
            horizontalAccuracy, verticalAccuracy, course, courseAccuracy,
            speed, speedAccuracy, timestamp.timeIntervalSinceReferenceDate,
        ]
    }

    /// Writes each value under its key.
    func encode(with coder: NSCoder) {
        for (key, value) in zip(Self.keys, components) {
            coder.encode(value, forKey: key)
        }
    }

    /// Reads each value, or what Apple's class writes; nil when the coordinate is missing.
    init?(coder: NSCoder) {
        // NB: on Linux, asking a coder that only writes ends the process.
        guard let coder = coder as? NSKeyedUnarchiver else { return nil }
        guard Self.keys.allSatisfy({ coder.containsValue(forKey: $0) }) else {
            self.init(apple: coder)
            return
        }
        let read = Self.keys.map { coder.decodeDouble(forKey: $0) }
        self.init(
            coordinate: CLLocationCoordinate2D(latitude: read[0], longitude: read[1]),
            altitude: read[2],
            horizontalAccuracy: read[3],
            verticalAccuracy: read[4],
            course: read[5],
            courseAccuracy: read[6],
            speed: read[7],
            speedAccuracy: read[8],
            timestamp: Date(timeIntervalSinceReferenceDate: read[9])
        )
    }

    /// Reads the values whose keys in Apple's archives are known.
    private init?(apple coder: NSKeyedUnarchiver) {
        func number(_ name: String) -> Double? {
            let key = "kCLLocationCodingKey" + name
            return coder.containsValue(forKey: key) ? coder.decodeDouble(forKey: key) : nil
        }
        guard let latitude = number("CoordinateLatitude"),
            let longitude = number("CoordinateLongitude")
        else { return nil }
        self.init(
            coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude),
            altitude: number("Altitude") ?? 0,
            horizontalAccuracy: number("HorizontalAccuracy") ?? 0,
            timestamp: Date(timeIntervalSinceReferenceDate: number("Timestamp") ?? 0)
        )
    }
}
