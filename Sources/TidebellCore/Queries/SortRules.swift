// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// By what a query can be sorted (QUERY-1, QUERY-9, QUERY-14).
enum SortRules {
    /// Checks the sort keys of a query; fails with `BAD_REQUEST`, naming which
    /// one is wrong and why.
    static func check(_ sorts: [WireSort], on type: RecordType, _ limits: Limits) throws {
        guard sorts.count <= WireSort.countLimit else {
            throw WireError.badRequest(
                "query: \(sorts.count) sort keys; at most \(WireSort.countLimit) are allowed"
            )
        }
        for (index, sort) in sorts.enumerated() {
            guard let problem = locationProblem(sort) ?? subjectProblem(sort, on: type, limits)
            else {
                continue
            }
            throw WireError.badRequest(
                "query: sortBy[\(index)] on '\(WireError.shortened(sort.subject.name))': \(problem)"
            )
        }
    }

    private static func locationProblem(_ sort: WireSort) -> String? {
        guard let location = sort.relativeLocation, !location.isOnEarth else { return nil }
        return "the relativeLocation lies outside latitude -90...90, longitude -180...180"
    }

    private static func subjectProblem(
        _ sort: WireSort, on type: RecordType, _ limits: Limits
    ) -> String? {
        switch sort.subject {
        case .allText: return "needs a fieldName or a systemFieldName"
        case .system(let field):
            if sort.relativeLocation != nil { return notALocation }
            switch field {
            case .recordName, .createdTimestamp, .modifiedTimestamp: return nil
            case .createdUserRecordName, .modifiedUserRecordName, .share, .parent:
                return notSortable(field.schemaName, .reference)
            }
        case .field(let name):
            guard Names.isFieldName(name, limits: limits) else {
                return FilterRules.badFieldName
            }
            guard let field = type.fields?[name] else { return type.problem(withUnknown: name) }
            if field.isEncrypted { return FilterRules.encryptedField }
            let known = field.type
            if known == .location {
                return sort.relativeLocation == nil
                    ? "a LOCATION field is sorted by its distance from a relativeLocation" : nil
            }
            if sort.relativeLocation != nil { return notALocation }
            return known.hasOrder ? nil : notSortable(name, known)
        }
    }

    private static let notALocation = "only LOCATION fields are sorted by distance"

    /// NB: the first words are CloudKit's (QUERY-14).
    private static func notSortable(_ name: String, _ type: FieldType) -> String {
        "Field '\(name)' is not marked sortable: \(type.rawValue) fields have no order"
    }
}

extension WireLocation {
    /// Whether latitude and longitude name a location on Earth.
    var isOnEarth: Bool { abs(latitude) <= 90 && abs(longitude) <= 180 }
}
