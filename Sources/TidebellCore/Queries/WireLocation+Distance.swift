// SPDX-License-Identifier: Apache-2.0
import Foundation
package import TidebellWire

extension WireLocation {
    /// The mean radius of the earth in metres.
    static let earthRadius = 6_371_008.8
    /// What no two locations are farther apart than, in metres, however it is rounded.
    static let farthest = earthRadius * 3.1416

    /// Returns the great-circle distance in metres, without altitude (QUERY-9).
    package func distance(to other: WireLocation) -> Double {
        let radians = Double.pi / 180
        let (south, north) = (latitude * radians, other.latitude * radians)
        let height = sin((north - south) / 2)
        let width = sin((other.longitude - longitude) * radians / 2)
        let haversine = height * height + cos(south) * cos(north) * width * width
        return 2 * Self.earthRadius * asin(min(1, haversine.squareRoot()))
    }
}
