// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import Foundation

extension BlobReader {
    /// Reads a location.
    mutating func location() throws(BlobError) -> CLLocation {
        CLLocation(
            coordinate: CLLocationCoordinate2D(
                latitude: try double(),
                longitude: try double()
            ),
            altitude: try double(),
            horizontalAccuracy: try double(),
            verticalAccuracy: try double(),
            course: try double(),
            courseAccuracy: try double(),
            speed: try double(),
            speedAccuracy: try double(),
            timestamp: try date()
        )
    }

    /// Reads an asset; it has no file when its URL is not one.
    mutating func asset() throws(BlobError) -> CKAsset {
        let url = try optionalString().flatMap { URL(string: $0) }
        let stored = try bool() ? try storedFile() : nil
        return CKAsset(stored: stored, fileURL: url)
    }

    private mutating func storedFile() throws(BlobError) -> CKAsset.StoredFile {
        CKAsset.StoredFile(
            fileChecksum: try string(),
            size: try int64(),
            referenceChecksum: try optionalString(),
            wrappingKey: try optionalString(),
            receipt: try optionalString(),
            downloadURL: try optionalString()
        )
    }
}

extension BlobWriter {
    /// Writes a location.
    mutating func write(_ location: CLLocation) {
        write(location.coordinate.latitude)
        write(location.coordinate.longitude)
        write(location.altitude)
        write(location.horizontalAccuracy)
        write(location.verticalAccuracy)
        write(location.course)
        write(location.courseAccuracy)
        write(location.speed)
        write(location.speedAccuracy)
        write(location.timestamp)
    }

    /// Writes an asset: where its file is, not what is in it.
    mutating func write(_ asset: CKAsset) {
        write(asset.fileURL?.absoluteString)
        write(asset.stored) { writer, stored in
            writer.write(stored.fileChecksum)
            writer.write(stored.size)
            writer.write(stored.referenceChecksum)
            writer.write(stored.wrappingKey)
            writer.write(stored.receipt)
            writer.write(stored.downloadURL)
        }
    }
}
