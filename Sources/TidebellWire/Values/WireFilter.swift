// SPDX-License-Identifier: Apache-2.0

/// One filter of a query (web-services 4.5); the filters of a query are ANDed
/// (QUERY-3).
package struct WireFilter: Sendable, Hashable {
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
}
