// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A location on Earth with altitude, accuracies, course, speed and time.
///
/// The part of Apple's Core Location that CloudKit records need, for systems
/// without that framework. Values are immutable.
/// See <https://developer.apple.com/documentation/corelocation/cllocation>.
open class CLLocation: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable: every stored property of this class is a constant.
    let values: Measurement

    /// Creates a location at sea level, measured now, with unknown vertical accuracy.
    public convenience init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.init(
            Measurement(
                coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
            )
        )
    }

    /// Creates a location without course and speed.
    public convenience init(
        coordinate: CLLocationCoordinate2D,
        altitude: CLLocationDistance,
        horizontalAccuracy hAccuracy: CLLocationAccuracy,
        verticalAccuracy vAccuracy: CLLocationAccuracy,
        timestamp: Date
    ) {
        self.init(
            Measurement(
                coordinate: coordinate,
                altitude: altitude,
                horizontalAccuracy: hAccuracy,
                verticalAccuracy: vAccuracy,
                timestamp: timestamp
            )
        )
    }

    /// Creates a location with course and speed of unknown accuracy.
    public convenience init(
        coordinate: CLLocationCoordinate2D,
        altitude: CLLocationDistance,
        horizontalAccuracy hAccuracy: CLLocationAccuracy,
        verticalAccuracy vAccuracy: CLLocationAccuracy,
        course: CLLocationDirection,
        speed: CLLocationSpeed,
        timestamp: Date
    ) {
        self.init(
            coordinate: coordinate,
            altitude: altitude,
            horizontalAccuracy: hAccuracy,
            verticalAccuracy: vAccuracy,
            course: course,
            courseAccuracy: -1,
            speed: speed,
            speedAccuracy: -1,
            timestamp: timestamp
        )
    }

    /// Creates a location with every measured value.
    public convenience init(
        coordinate: CLLocationCoordinate2D,
        altitude: CLLocationDistance,
        horizontalAccuracy hAccuracy: CLLocationAccuracy,
        verticalAccuracy vAccuracy: CLLocationAccuracy,
        course: CLLocationDirection,
        courseAccuracy: CLLocationDirectionAccuracy,
        speed: CLLocationSpeed,
        speedAccuracy: CLLocationSpeedAccuracy,
        timestamp: Date
    ) {
        self.init(
            Measurement(
                coordinate: coordinate,
                altitude: altitude,
                horizontalAccuracy: hAccuracy,
                verticalAccuracy: vAccuracy,
                course: course,
                courseAccuracy: courseAccuracy,
                speed: speed,
                speedAccuracy: speedAccuracy,
                timestamp: timestamp
            )
        )
    }

    /// Creates a location of the given values.
    init(_ values: Measurement) {
        self.values = values
    }

    /// Reads a location from an archive; nil if the archive has none.
    public required init?(coder: NSCoder) {
        guard let values = Measurement(coder: coder) else { return nil }
        self.values = values
    }

    /// Always true: locations support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes every measured value to the archive.
    open func encode(with coder: NSCoder) {
        values.encode(with: coder)
    }

    /// Latitude and longitude.
    open var coordinate: CLLocationCoordinate2D { values.coordinate }

    /// The height above mean sea level, in metres.
    open var altitude: CLLocationDistance { values.altitude }

    /// The radius of uncertainty of the coordinate, in metres.
    open var horizontalAccuracy: CLLocationAccuracy { values.horizontalAccuracy }

    /// The uncertainty of the altitude, in metres; negative when unknown.
    open var verticalAccuracy: CLLocationAccuracy { values.verticalAccuracy }

    /// The direction of travel, in degrees from true north; negative when unknown.
    open var course: CLLocationDirection { values.course }

    /// The uncertainty of the course, in degrees; negative when unknown.
    open var courseAccuracy: CLLocationDirectionAccuracy { values.courseAccuracy }

    /// The speed, in metres per second; negative when unknown.
    open var speed: CLLocationSpeed { values.speed }

    /// The uncertainty of the speed, in metres per second; negative when unknown.
    open var speedAccuracy: CLLocationSpeedAccuracy { values.speedAccuracy }

    /// The time of the measurement.
    open var timestamp: Date { values.timestamp }

    /// Returns the length of the great circle to `location`, in metres.
    ///
    /// The calculation uses a sphere with the mean radius of the Earth and ignores the altitude.
    /// The error compared with the ellipsoid is below 0.6 percent.
    open func distance(from location: CLLocation) -> CLLocationDistance {
        values.coordinate.greatCircleDistance(to: location.values.coordinate)
    }

    /// Returns the location itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares every measured value.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CLLocation else { return false }
        return values.components == other.values.components
    }

    /// A hash of every measured value.
    open override var hash: Int { values.components.hashValue }

    /// Coordinate and accuracy as text, for logs and debuggers.
    open override var description: String {
        // NB: Foundation on Linux ends the process when it describes a date that is no number.
        let time = timestamp.timeIntervalSince1970.isNaN ? "nan" : "\(timestamp)"
        return "<\(coordinate.latitude),\(coordinate.longitude)> +/- \(horizontalAccuracy)m "
            + "(speed \(speed) mps / course \(course)) @ \(time)"
    }
}

extension CLLocationCoordinate2D {
    /// The mean radius of the Earth, in metres (IUGG mean radius R1).
    static let meanEarthRadius: CLLocationDistance = 6_371_008.8

    /// Returns the length of the great circle to `other`, in metres (haversine formula).
    func greatCircleDistance(to other: CLLocationCoordinate2D) -> CLLocationDistance {
        let radians = Double.pi / 180
        let deltaLatitude = (other.latitude - latitude) * radians
        let deltaLongitude = (other.longitude - longitude) * radians
        let sineLatitude = sin(deltaLatitude / 2)
        let sineLongitude = sin(deltaLongitude / 2)
        let chord =
            sineLatitude * sineLatitude
            + cos(latitude * radians) * cos(other.latitude * radians)
            * sineLongitude * sineLongitude
        // NB: rounding may lift the square of the half chord above 1 at antipodes.
        return 2 * Self.meanEarthRadius * asin(min(1, chord.squareRoot()))
    }
}
