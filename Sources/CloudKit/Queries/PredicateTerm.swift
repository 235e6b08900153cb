// SPDX-License-Identifier: Apache-2.0
import TidebellLocation
import Foundation
import TidebellWire

/// One of the conditions CloudKit asks of its server, all of which must hold (QUERY-3).
///
/// Predicates that mean the same have the same terms: values stand on the right,
/// negations are comparators, values have nothing the server ignores.
struct PredicateTerm: Sendable, Hashable {
    var comparator: WireFilter.Comparator
    var subject: WireFilter.Subject
    var value: PredicateValue
    /// The radius in metres, of a search around a location.
    var distance: Double?

    /// Creates a term.
    init(
        _ comparator: WireFilter.Comparator,
        _ subject: WireFilter.Subject,
        _ value: PredicateValue,
        distance: Double? = nil
    ) {
        self.comparator = comparator
        self.subject = subject
        self.value = value.asSent
        self.distance = distance
    }

    /// The term no record fulfils: `FALSEPREDICATE`.
    static let nothing = PredicateTerm(.in, .system(.recordName), .list([]))
}

/// Why CloudKit does not take a predicate, as sentences that describe what to do instead.
struct PredicateRefusal: Error, Hashable {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

extension PredicateValue {
    /// The value without what the server ignores: of a reference the target counts, of
    /// a location the coordinate.
    fileprivate var asSent: PredicateValue {
        switch self {
        case .recordID(let id):
            .scalar(.reference(CKReference(recordID: id, action: .none)))
        case .scalar(.reference(let reference)):
            .scalar(.reference(CKReference(recordID: reference.recordID, action: .none)))
        case .scalar(.location(let location)):
            .scalar(.location(location.coordinateOnly))
        case .list(let elements): .list(elements.map(\.asSent))
        case .null, .scalar, .other: self
        }
    }
}

extension CLLocation {
    /// A location of the same coordinate with nothing measured.
    var coordinateOnly: CLLocation {
        CLLocation(
            coordinate: coordinate,
            altitude: 0,
            horizontalAccuracy: 0,
            verticalAccuracy: -1,
            timestamp: Date(timeIntervalSince1970: 0)
        )
    }
}

extension WireFilter.Comparator {
    /// The comparator that holds where this one does not; nil where CloudKit has none.
    var negated: WireFilter.Comparator? {
        switch self {
        case .equals: .notEquals
        case .notEquals: .equals
        case .lessThan: .greaterThanOrEquals
        case .lessThanOrEquals: .greaterThan
        case .greaterThan: .lessThanOrEquals
        case .greaterThanOrEquals: .lessThan
        case .in: .notIn
        case .notIn: .in
        case .listContains: .notListContains
        case .notListContains: .listContains
        case .listContainsAny: .notListContainsAny
        case .notListContainsAny: .listContainsAny
        case .listContainsAll: .notListContainsAll
        case .notListContainsAll: .listContainsAll
        case .beginsWith: .notBeginsWith
        case .notBeginsWith: .beginsWith
        case .listMemberBeginsWith: .notListMemberBeginsWith
        case .notListMemberBeginsWith: .listMemberBeginsWith
        case .near, .containsAllTokens, .containsAnyTokens: nil
        }
    }
}

extension WireFilter.Subject {
    /// The subject a key of a predicate names, or why there is none (QUERY-6).
    init(key: String) throws(PredicateRefusal) {
        if let field = Self.systemKeys[key] {
            self = .system(field)
            return
        }
        guard !key.contains(".") else {
            throw PredicateRefusal(
                "'\(key)' is a key path. CloudKit compares fields of the record itself: copy the "
                    + "value into a field, or compare a reference field with a record's ID."
            )
        }
        guard Identifier.isField(key) else {
            throw PredicateRefusal(
                "'\(key)' is not the name of a field: names have letters, digits and underscores and "
                    + "begin with a letter."
            )
        }
        self = .field(key)
    }

    /// The key a predicate names the subject by.
    var key: String {
        switch self {
        case .field(let name): name
        case .system(let field): field.key
        case .allText: "SELF"
        }
    }

    private static let systemKeys: [String: WireFilter.SystemField] = {
        var keys: [String: WireFilter.SystemField] = [:]
        for field in WireFilter.SystemField.allCases {
            keys[field.key] = field
            keys[field.schemaName] = field
        }
        return keys
    }()
}

extension WireFilter.SystemField {
    /// The name of the property of `CKRecord`.
    fileprivate var key: String {
        switch self {
        case .recordName: "recordID"
        case .createdTimestamp: "creationDate"
        case .modifiedTimestamp: "modificationDate"
        case .createdUserRecordName: "creatorUserRecordID"
        case .modifiedUserRecordName: "lastModifiedUserRecordID"
        case .share: "share"
        case .parent: "parent"
        }
    }
}
