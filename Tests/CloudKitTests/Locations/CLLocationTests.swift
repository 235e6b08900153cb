// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import Foundation
import Testing

@Suite struct CLLocationTests {
    private let berlin = CLLocation(latitude: 52.5200, longitude: 13.4050)
    private let paris = CLLocation(latitude: 48.8566, longitude: 2.3522)

    @Test("the short initializer leaves altitude at 0 and the rest unmeasured")
    func shortInitializer() {
        #expect(berlin.coordinate.latitude == 52.52)
        #expect(berlin.coordinate.longitude == 13.405)
        #expect(berlin.altitude == 0)
        #expect(berlin.horizontalAccuracy == 0)
        #expect(berlin.verticalAccuracy == -1)
        #expect(berlin.course == -1)
        #expect(berlin.speed == -1)
    }

    @Test("the longer initializers keep what they are given")
    func longInitializers() {
        let time = Date(timeIntervalSinceReferenceDate: 1)
        let coordinate = CLLocationCoordinate2D(latitude: 1, longitude: 2)
        let plain = CLLocation(
            coordinate: coordinate,
            altitude: 3,
            horizontalAccuracy: 4,
            verticalAccuracy: 5,
            timestamp: time
        )
        #expect(plain.altitude == 3)
        #expect(plain.horizontalAccuracy == 4)
        #expect(plain.verticalAccuracy == 5)
        #expect(plain.timestamp == time)
        let moving = CLLocation(
            coordinate: coordinate,
            altitude: 3,
            horizontalAccuracy: 4,
            verticalAccuracy: 5,
            course: 6,
            speed: 7,
            timestamp: time
        )
        #expect(moving.course == 6)
        #expect(moving.speed == 7)
        #expect(moving.courseAccuracy == -1)
        #expect(moving.speedAccuracy == -1)
    }

    @Test("the distance is that of the great circle")
    func distance() {
        #expect(abs(berlin.distance(from: paris) - 877_460) < 1_000)
        #expect(berlin.distance(from: berlin) == 0)
        #expect(berlin.distance(from: paris) == paris.distance(from: berlin))
        let north = CLLocation(latitude: 90, longitude: 0)
        let south = CLLocation(latitude: -90, longitude: 0)
        #expect(abs(north.distance(from: south) - 20_015_114) < 10)
        let east = CLLocation(latitude: 0, longitude: 179.5)
        let west = CLLocation(latitude: 0, longitude: -179.5)
        #expect(abs(east.distance(from: west) - 111_195) < 10)
    }

    @Test("a location whose time is none can be described")
    func noTime() {
        let location = CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: 1, longitude: 2),
            altitude: 0,
            horizontalAccuracy: 0,
            verticalAccuracy: 0,
            timestamp: Date(timeIntervalSinceReferenceDate: .nan)
        )
        #expect(location.description.hasSuffix("@ nan"))
    }

    @Test("locations compare by every measured value, and copy as themselves")
    func equality() {
        let time = Date(timeIntervalSinceReferenceDate: 1)
        func location(altitude: Double) -> CLLocation {
            CLLocation(
                coordinate: CLLocationCoordinate2D(latitude: 1, longitude: 2),
                altitude: altitude,
                horizontalAccuracy: 0,
                verticalAccuracy: 0,
                timestamp: time
            )
        }
        #expect(location(altitude: 3) == location(altitude: 3))
        #expect(location(altitude: 3).hash == location(altitude: 3).hash)
        #expect(location(altitude: 3) != location(altitude: 4))
        #expect(berlin.copy() as? CLLocation === berlin)
    }

    @Test("coordinates outside the Earth are not valid")
    func validity() {
        #expect(CLLocationCoordinate2DIsValid(berlin.coordinate))
        #expect(!CLLocationCoordinate2DIsValid(kCLLocationCoordinate2DInvalid))
        #expect(!CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(91, 0)))
        #expect(!CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(0, 181)))
        #expect(CLLocationCoordinate2D().latitude == 0)
    }
}
