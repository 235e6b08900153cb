// SPDX-License-Identifier: Apache-2.0
import TidebellLocation
public import Foundation

#if !canImport(ObjectiveC)
    // Foundation on Linux makes descriptors of key paths alone.
    extension NSSortDescriptor {
        /// Creates a descriptor that sorts by a field of records, or a key of dictionaries.
        ///
        /// See <https://developer.apple.com/documentation/foundation/nssortdescriptor>.
        public convenience init(key: String?, ascending: Bool) {
            self.init(SortOrder(key: key, relativeLocation: nil), ascending: ascending)
        }

        /// The field or key; nil for a descriptor that was made from a key path.
        public var key: String? { order?.key }
    }
#endif

extension NSSortDescriptor {
    fileprivate convenience init(_ order: SortOrder, ascending: Bool) {
        self.init(keyPath: \Any.self, ascending: ascending, comparator: order.comparator)
    }

    /// How a descriptor that was made of a key sorts.
    var order: SortOrder? {
        // Comparators of apps, which are of other key paths, are not called.
        guard keyPath == \Any.self else { return nil }
        let probe = SortOrderProbe()
        _ = comparator(probe, probe)
        return probe.answer
    }
}

/// The object that asks a descriptor made of a key how it sorts; see `PredicateProbe`.
private final class SortOrderProbe {
    var answer: SortOrder?
}

/// By what a descriptor that was made of a key sorts.
struct SortOrder: Sendable {
    /// The field; nil sorts the objects themselves.
    var key: String?
    /// The location from which distances are measured; nil to compare values.
    var relativeLocation: CLLocation?

    /// Compares two objects, upwards; missing values are first.
    var comparator: Comparator {
        { left, right in
            if let probe = left as? SortOrderProbe {
                probe.answer = self
                return .orderedSame
            }
            return value(of: left).sorted(before: value(of: right))
        }
    }

    private func value(of object: Any) -> PredicateValue {
        let value = key.map { PredicateEvaluation.value(atPath: $0, of: object) }
        guard let relativeLocation else { return value ?? PredicateValue(object) }
        guard case .scalar(.location(let location))? = value else { return .null }
        return .scalar(.double(location.distance(from: relativeLocation)))
    }
}

extension PredicateValue {
    fileprivate func sorted(before other: PredicateValue) -> ComparisonResult {
        switch (self, other) {
        case (.null, .null): .orderedSame
        case (.null, _): .orderedAscending
        case (_, .null): .orderedDescending
        default: order(to: other, "") ?? .orderedSame
        }
    }
}

/// A descriptor as an archive keeps it.
struct SortKey {
    var key: String
    var ascending: Bool
    var relativeLocation: CLLocation?

    /// Takes a descriptor apart.
    ///
    /// - Precondition: It was made of a key.
    init(_ descriptor: NSSortDescriptor) {
        guard let order = descriptor.order, let key = order.key else {
            preconditionFailure("A sort descriptor made of a key path cannot be archived.")
        }
        self.key = key
        ascending = descriptor.ascending
        relativeLocation = order.relativeLocation
    }

    /// Reads a descriptor.
    init(from reader: inout BlobReader) throws(BlobError) {
        key = try reader.string()
        ascending = try reader.bool()
        relativeLocation = try reader.bool() ? try reader.location() : nil
    }

    /// Writes the descriptor.
    func write(to writer: inout BlobWriter) {
        writer.write(key)
        writer.write(ascending)
        writer.write(relativeLocation) { $0.write($1) }
    }

    /// A descriptor that sorts so.
    var descriptor: NSSortDescriptor {
        if let relativeLocation, ascending {
            return CKLocationSortDescriptor(key: key, relativeLocation: relativeLocation)
        }
        // A reversed CKLocationSortDescriptor is none any more.
        return NSSortDescriptor(
            SortOrder(key: key, relativeLocation: relativeLocation),
            ascending: ascending
        )
    }
}
