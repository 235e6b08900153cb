// SPDX-License-Identifier: Apache-2.0
import TidebellLocation
import Foundation
import TidebellWire

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
        return CKAsset(
            stored: stored, fileURL: url, field: try bool() ? try assetField() : nil,
            stamp: try bool() ? try fileStamp() : nil
        )
    }

    private mutating func assetField() throws(BlobError) -> CKAsset.Field {
        let container = try optionalString()
        guard let scope = DatabaseScope(rawValue: try string()) else { throw .badValue }
        return CKAsset.Field(
            container: container, scope: scope, recordID: try recordID(), key: try string()
        )
    }

    private mutating func fileStamp() throws(BlobError) -> FileStamp {
        FileStamp(
            device: UInt64(bitPattern: try int64()), inode: UInt64(bitPattern: try int64()),
            size: try int64(), seconds: Int(try int64()), nanoseconds: Int(try int64())
        )
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

    /// Writes an asset: where its file is and what the server knows of it, not what is
    /// in it.
    mutating func write(_ asset: CKAsset) {
        let state = asset.snapshot
        write(state.fileURL?.absoluteString)
        write(state.stored) { writer, stored in
            writer.write(stored.fileChecksum)
            writer.write(stored.size)
            writer.write(stored.referenceChecksum)
            writer.write(stored.wrappingKey)
            writer.write(stored.receipt)
            writer.write(stored.downloadURL)
        }
        write(state.field) { writer, field in
            writer.write(field.container)
            writer.write(field.scope.rawValue)
            writer.write(field.recordID)
            writer.write(field.key)
        }
        write(state.stamp) { writer, stamp in
            writer.write(Int64(bitPattern: stamp.device))
            writer.write(Int64(bitPattern: stamp.inode))
            writer.write(stamp.size)
            writer.write(Int64(stamp.seconds))
            writer.write(Int64(stamp.nanoseconds))
        }
    }
}
