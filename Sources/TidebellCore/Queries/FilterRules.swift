// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Which filters make sense (QUERY-2 to 11, QUERY-21), alone and beside what is
/// known of the record type.
///
/// What the schema does not know yet is accepted where the type may grow: a
/// subscription waits for records that are yet to come, a query does not.
enum FilterRules {
    /// Checks the filters of a query; fails with `BAD_REQUEST`, naming which
    /// filter of `what` is wrong and why.
    static func check(
        _ filters: [WireFilter], of what: String, on type: RecordType, _ limits: Limits
    ) throws {
        guard filters.count <= WireFilter.countLimit else {
            throw WireError.badRequest(
                "\(what): \(filters.count) filters; at most \(WireFilter.countLimit) are allowed"
            )
        }
        for (index, filter) in filters.enumerated() {
            guard let problem = problem(in: filter, on: type, limits) else { continue }
            let name = WireError.shortened(filter.subject.name)
            throw WireError.badRequest(
                "\(what): filterBy[\(index)], \(filter.comparator.rawValue) on '\(name)': \(problem)"
            )
        }
    }

    /// What is wrong with a filter; nil if nothing is.
    private static func problem(
        in filter: WireFilter, on type: RecordType, _ limits: Limits
    ) -> String? {
        operandProblem(filter) ?? distanceProblem(filter) ?? sizeProblem(filter.value)
            ?? subjectProblem(filter, on: type, limits)
    }

    // MARK: Shape

    private static func operandProblem(_ filter: WireFilter) -> String? {
        let isList = filter.value.elements != nil
        switch filter.comparator.operand {
        case .scalar, .element, .prefix, .tokens, .location:
            // NB: the words are CloudKit's (QUERY-21).
            if isList {
                return "Invalid value, expected one value but actual value was a list"
            }
        case .choices, .list:
            guard case .list(let type, _) = filter.value else {
                return "Invalid value, expected a list; write the type of the list too"
            }
            if type == nil { return "an empty list needs its type, such as STRING_LIST" }
        }
        switch (filter.comparator.operand, filter.value) {
        case (.prefix, .string), (.tokens, .string), (.location, .location): return nil
        case (.prefix, _), (.tokens, _): return "expected a value of type STRING"
        case (.location, _): return "expected a value of type LOCATION"
        default: return unqueryable(filter.value.type?.element ?? filter.value.type)
        }
    }

    /// Types whose values are not compared.
    private static func unqueryable(_ type: FieldType?) -> String? {
        switch type {
        case .asset, .assetList: "\(type?.rawValue ?? "") fields cannot be queried"
        default: nil
        }
    }

    private static func distanceProblem(_ filter: WireFilter) -> String? {
        guard filter.comparator == .near else {
            // Go sends 0 for none.
            return filter.distance ?? 0 == 0 ? nil : "only NEAR takes a distance"
        }
        guard let distance = filter.distance, distance > 0, distance.isFinite else {
            return "needs a distance in metres, greater than 0"
        }
        guard case .location(let center) = filter.value, center.isOnEarth else {
            return "the location lies outside latitude -90...90, longitude -180...180"
        }
        return nil
    }

    private static func sizeProblem(_ value: FieldValue) -> String? {
        switch value {
        case .list(_, let elements):
            guard elements.count <= WireFilter.elementLimit else {
                return "\(elements.count) elements; at most \(WireFilter.elementLimit) are allowed"
            }
            return elements.lazy.compactMap { sizeProblem($0) }.first
        case .string(let text): return sizeProblem(text)
        case .reference(let reference): return sizeProblem(reference.recordName)
        default: return nil
        }
    }

    private static func sizeProblem(_ text: String) -> String? {
        let count = text.unicodeScalars.count
        return count <= WireFilter.textLimit
            ? nil : "a text of \(count) characters; at most \(WireFilter.textLimit) are allowed"
    }

    // MARK: Subject

    private static func subjectProblem(
        _ filter: WireFilter, on type: RecordType, _ limits: Limits
    ) -> String? {
        switch filter.subject {
        case .allText:
            return filter.comparator.operand == .tokens
                ? nil
                : "needs a fieldName or a systemFieldName; only tokens are looked for in all text"
        case .system(let field): return problem(in: filter, onSystem: field)
        case .field(let name):
            guard Names.isFieldName(name, limits: limits) else { return badFieldName }
            return problem(in: filter, onField: name, of: type)
        }
    }

    /// The problem reported for a field that is stored encrypted (REC-11).
    static let encryptedField = "encrypted fields cannot be queried"

    /// The problem reported for a name that no field can have.
    static let badFieldName =
        "a field name is a letter followed by letters, digits and underscores; "
        + "system fields are \(systemNames)"

    private static let systemNames = WireFilter.SystemField.allCases
        .map { "\($0.rawValue) (\($0.schemaName))" }.joined(separator: ", ")

    private static func problem(
        in filter: WireFilter, onSystem field: WireFilter.SystemField
    ) -> String? {
        guard filter.comparator.operand != .tokens else {
            return "system fields are not searched for tokens"
        }
        switch field {
        case .createdTimestamp, .modifiedTimestamp:
            return problem(in: filter, on: .timestamp)
        case .recordName, .createdUserRecordName, .modifiedUserRecordName, .parent, .share:
            // Names may be given as texts or as references.
            let type = filter.value.type
            let isText = type == .string || type == .stringList
            if field != .recordName, filter.comparator.isOrdering {
                return "references have no order"
            }
            return problem(in: filter, on: isText ? .string : .reference)
        }
    }

    private static func problem(
        in filter: WireFilter, onField name: String, of type: RecordType
    ) -> String? {
        guard let fields = type.fields else { return nil }
        guard let known = fields[name] else {
            return type.problem(withUnknown: name)
        }
        if known.isEncrypted { return encryptedField }
        return problem(in: filter, on: known.type)
    }

    // MARK: Types

    /// What is wrong with comparing a field of this type so.
    private static func problem(in filter: WireFilter, on field: FieldType) -> String? {
        if let problem = unqueryable(field) { return problem }
        let value = filter.value.type
        switch filter.comparator.operand {
        case .scalar:
            if field.element != nil {
                return "a \(field.rawValue) field is compared with LIST_CONTAINS"
            }
            if filter.comparator.isOrdering, !field.hasOrder {
                return "\(field.rawValue) fields have no order"
            }
            return mismatch(value, in: field)
        case .choices:
            if field.element != nil {
                return "a \(field.rawValue) field is compared with LIST_CONTAINS_ANY"
            }
            return mismatch(value?.element, in: field)
        case .element, .list:
            guard let element = field.element else { return "a \(field.rawValue) field is no list" }
            return mismatch(
                filter.comparator.operand == .list ? value?.element : value, in: element)
        case .prefix: return mismatch(field, neededFor: filter.comparator)
        case .tokens:
            return field == .string || field == .stringList
                ? nil : "tokens are looked for in STRING and STRING_LIST, not in \(field.rawValue)"
        case .location:
            return field == .location
                ? nil : "expected a field of type LOCATION, not \(field.rawValue)"
        }
    }

    private static func mismatch(_ value: FieldType?, in field: FieldType) -> String? {
        let accepted: Set<FieldType> =
            switch field {
            case .int64, .double: [.int64, .double]
            // Without a tag, a moment is written like a whole number.
            case .timestamp: [.timestamp, .int64]
            default: [field]
            }
        guard let value, !accepted.contains(value) else { return nil }
        return
            "Invalid value, expected type \(field.rawValue) but actual value was \(value.rawValue)"
    }

    private static func mismatch(
        _ field: FieldType, neededFor comparator: WireFilter.Comparator
    ) -> String? {
        let isOfMembers = comparator.affirmed.comparator == .listMemberBeginsWith
        let needed: FieldType = isOfMembers ? .stringList : .string
        return field == needed
            ? nil : "expected a field of type \(needed.rawValue), not \(field.rawValue)"
    }
}

extension FieldType {
    /// Whether one value of the type can stand before another.
    var hasOrder: Bool {
        switch self {
        case .string, .int64, .double, .timestamp: true
        default: false
        }
    }
}

extension WireFilter.Comparator {
    /// Whether it asks for an order, not only for equality.
    fileprivate var isOrdering: Bool {
        switch self {
        case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals: true
        default: false
        }
    }
}
