// SPDX-License-Identifier: Apache-2.0

/// One filter of a query (web-services 4.5); the filters of a query are ANDed
/// (QUERY-3).
///
/// Any combination can be written down; which make sense is for the rules to decide.
package struct WireFilter: Sendable, Hashable {
    /// The most filters in one query.
    package static let countLimit = 64
    /// The most elements in the list of one filter.
    package static let elementLimit = 1000
    /// The most Unicode scalars in one text of a filter.
    package static let textLimit = 1024

    /// How a field is compared; raw values are the wire's (QUERY-22).
    package enum Comparator: String, Sendable, Hashable, CaseIterable {
        case equals = "EQUALS"
        case notEquals = "NOT_EQUALS"
        case lessThan = "LESS_THAN"
        case lessThanOrEquals = "LESS_THAN_OR_EQUALS"
        case greaterThan = "GREATER_THAN"
        case greaterThanOrEquals = "GREATER_THAN_OR_EQUALS"
        case near = "NEAR"
        case containsAllTokens = "CONTAINS_ALL_TOKENS"
        case containsAnyTokens = "CONTAINS_ANY_TOKENS"
        case `in` = "IN"
        case notIn = "NOT_IN"
        case listContains = "LIST_CONTAINS"
        case notListContains = "NOT_LIST_CONTAINS"
        case listContainsAny = "LIST_CONTAINS_ANY"
        case notListContainsAny = "NOT_LIST_CONTAINS_ANY"
        case listContainsAll = "LIST_CONTAINS_ALL"
        case notListContainsAll = "NOT_LIST_CONTAINS_ALL"
        case beginsWith = "BEGINS_WITH"
        case notBeginsWith = "NOT_BEGINS_WITH"
        case listMemberBeginsWith = "LIST_MEMBER_BEGINS_WITH"
        case notListMemberBeginsWith = "NOT_LIST_MEMBER_BEGINS_WITH"

        /// Creates the comparator of a name, other clients' spellings included.
        package init?(name: String) {
            switch name {
            case "CONTAINS_ANY": self = .listContainsAny
            case "LIST_NOT_CONTAINS_ANY": self = .notListContainsAny
            default: self.init(rawValue: name)
            }
        }

        /// What stands on the right side of a comparator.
        package enum Operand: Sendable, Hashable {
            /// One value of the field's type.
            case scalar
            /// One value of the type of the field's elements.
            case element
            /// A list of values of the field's type; its type must be written
            /// (web-services 4.5).
            case choices
            /// A list like the field's.
            case list
            /// A text the field, or one of its elements, begins with.
            case prefix
            /// A text of which tokens are made.
            case tokens
            /// A location, with a distance.
            case location
        }

        /// What the comparator takes.
        package var operand: Operand {
            switch self {
            case .equals, .notEquals, .lessThan, .lessThanOrEquals, .greaterThan,
                .greaterThanOrEquals:
                .scalar
            case .near: .location
            case .containsAllTokens, .containsAnyTokens: .tokens
            case .in, .notIn: .choices
            case .listContains, .notListContains: .element
            case .listContainsAny, .notListContainsAny, .listContainsAll, .notListContainsAll:
                .list
            case .beginsWith, .notBeginsWith, .listMemberBeginsWith, .notListMemberBeginsWith:
                .prefix
            }
        }
    }

    /// What every record has beside its fields; raw values are the wire's
    /// `systemFieldName`.
    package enum SystemField: String, Sendable, Hashable, CaseIterable {
        case recordName
        case createdTimestamp
        case modifiedTimestamp
        case createdUserRecordName
        case modifiedUserRecordName
        case share
        case parent

        /// The name in schemas, also accepted as a `fieldName`.
        package var schemaName: String {
            switch self {
            case .recordName: "___recordID"
            case .createdTimestamp: "___createTime"
            case .modifiedTimestamp: "___modTime"
            case .createdUserRecordName: "___createdBy"
            case .modifiedUserRecordName: "___modifiedBy"
            case .share: "___share"
            case .parent: "___parent"
            }
        }
    }

    /// What is compared.
    package enum Subject: Sendable, Hashable {
        /// A field of the app's.
        case field(String)
        case system(SystemField)
        /// All searchable text of the record: `self CONTAINS` (QUERY-5). An
        /// extension: the filter names no field.
        case allText
    }

    package var comparator: Comparator
    package var subject: Subject
    package var value: FieldValue
    /// The radius in metres; only of ``Comparator/near``.
    package var distance: Double?

    /// Creates a filter.
    package init(
        _ comparator: Comparator, _ subject: Subject, _ value: FieldValue, distance: Double? = nil
    ) {
        self.comparator = comparator
        self.subject = subject
        self.value = value
        self.distance = distance
    }

    /// The filter that no record passes: `FALSEPREDICATE`, and `IN {}`.
    package static let nothing = WireFilter(.in, .system(.recordName), .list(.stringList, []))
}
