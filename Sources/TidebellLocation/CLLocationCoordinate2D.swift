// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A latitude or longitude, in degrees (WGS 84).
public typealias CLLocationDegrees = Double

/// A distance, in metres.
public typealias CLLocationDistance = Double

/// The radius of uncertainty of a measurement, in metres; negative means "not measured".
public typealias CLLocationAccuracy = Double

/// A speed, in metres per second; negative means "not measured".
public typealias CLLocationSpeed = Double

/// The uncertainty of a speed, in metres per second; negative means "not measured".
public typealias CLLocationSpeedAccuracy = Double

/// A course, in degrees clockwise from true north; negative means "not measured".
public typealias CLLocationDirection = Double

/// The uncertainty of a course, in degrees; negative means "not measured".
public typealias CLLocationDirectionAccuracy = Double

/// A point on the surface of the Earth.
public struct CLLocationCoordinate2D: Sendable {
    /// The latitude, from -90 (south pole) to 90 (north pole).
    public var latitude: CLLocationDegrees

    /// The longitude, from -180 to 180, east of the meridian of Greenwich positive.
    public var longitude: CLLocationDegrees

    /// Creates the coordinate 0, 0.
    public init() {
        self.init(latitude: 0, longitude: 0)
    }

    /// Creates a coordinate. Values outside the legal range are kept; see
    /// ``CLLocationCoordinate2DIsValid(_:)``.
    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// The value that means "no coordinate": both degrees are -180.
public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns a coordinate with the given degrees.
public func CLLocationCoordinate2DMake(
    _ latitude: CLLocationDegrees,
    _ longitude: CLLocationDegrees
) -> CLLocationCoordinate2D {
    CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns whether latitude is within ±90 and longitude within ±180 degrees.
public func CLLocationCoordinate2DIsValid(_ coordinate: CLLocationCoordinate2D) -> Bool {
    abs(coordinate.latitude) <= 90 && abs(coordinate.longitude) <= 180
}
