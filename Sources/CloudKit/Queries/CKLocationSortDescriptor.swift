// SPDX-License-Identifier: Apache-2.0
public import TidebellLocation
public import Foundation

/// Sorts records by the distance of a location field from a location, the nearest first
/// (QUERY-9).
///
/// See <https://developer.apple.com/documentation/cloudkit/cklocationsortdescriptor>.
// NB: Sendable on Apple's systems; Foundation on Linux rules that out for all descriptors.
open class CKLocationSortDescriptor: NSSortDescriptor, NSSecureCoding {
    private let location: CLLocation

    /// Creates a descriptor.
    ///
    /// - Parameters:
    ///   - key: The name of a field with locations.
    ///   - relativeLocation: The location that distances are measured from.
    public init(key: String, relativeLocation: CLLocation) {
        location = relativeLocation
        super.init(
            keyPath: \Any.self,
            ascending: true,
            comparator: SortOrder(key: key, relativeLocation: relativeLocation).comparator
        )
    }

    /// Reads a descriptor from an archive.
    ///
    /// If the archive is damaged, the unarchiver fails; if it does not report failures, the result
    /// sorts by the distance of nothing.
    public required convenience init(coder: NSCoder) {
        let values = coder.decodeArchiveBlob(Values.self)
        if values == nil { coder.failDecoding(of: CKLocationSortDescriptor.self) }
        self.init(
            key: values?.key ?? "",
            relativeLocation: values?.location ?? CLLocation(latitude: 0, longitude: 0)
        )
    }

    /// Always true: descriptors support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the descriptor to a keyed archive.
    open func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(Values(key: key ?? "", location: location))
    }

    /// The location from which distances are measured.
    open var relativeLocation: CLLocation { location }

    /// Returns the descriptor itself, which never changes.
    open override func copy(with zone: NSZone? = nil) -> Any { self }
}

extension CKLocationSortDescriptor {
    /// The archived state of a descriptor.
    struct Values: ArchiveValue {
        var key: String
        var location: CLLocation

        static var kind: ArchiveKind { .locationSortDescriptor }

        init(key: String, location: CLLocation) {
            self.key = key
            self.location = location
        }

        init(from reader: inout BlobReader) throws(BlobError) {
            key = try reader.string()
            location = try reader.location()
        }

        func write(to writer: inout BlobWriter) {
            writer.write(key)
            writer.write(location)
        }
    }
}
