// SPDX-License-Identifier: Apache-2.0
import TidebellLocation
import Foundation
import TidebellWire

/// Where the filters of a query are asked: how they name records.
struct FilterContext {
    /// The database.
    let database: DatabaseConnection
    /// The only zone the query looks at; nil for all.
    let zoneID: CKRecordZone.ID?
}

extension NSPredicate {
    /// Returns the filters of a request; none for every record (web-services 4.5).
    ///
    /// Fails with `invalidArguments` for a predicate CloudKit refuses (QUERY-2 to 7).
    func filters(in context: FilterContext) throws(CKError) -> [WireFilter] {
        guard let tree = PredicateTree(self) else {
            throw .invalidPredicate(
                "A predicate made of a block cannot be asked of a server: make it of a format."
            )
        }
        do {
            var filters: [WireFilter] = []
            for term in try tree.terms() { filters.append(try WireFilter(term, in: context)) }
            return filters
        } catch {
            throw .invalidPredicate(error.reason)
        }
    }
}

extension NSPredicate {
    /// Whether the predicate compares users with the current one, whose record name a
    /// request must contain.
    var namesCurrentUser: Bool {
        // One that is refused names nobody; the reason is reported when it is sent.
        guard let terms = try? PredicateTree(self)?.terms() else { return false }
        return terms.contains { $0.subject.isUser && $0.value.namesCurrentUser }
    }
}

extension PredicateValue {
    fileprivate var namesCurrentUser: Bool {
        if case .list(let elements) = self { return elements.contains(where: \.namesCurrentUser) }
        return target?.recordName == CKCurrentUserDefaultName
    }
}

extension PredicateTree {
    /// Creates the predicate of an answer's filters.
    init(_ filters: [WireFilter], in context: FilterContext) {
        self.init(filters.map { PredicateTerm($0, in: context) })
    }
}

extension CKError {
    fileprivate static func invalidPredicate(_ refusal: String) -> CKError {
        .local(.invalidArguments, "Invalid predicate: \(refusal)")
    }
}

extension WireFilter {
    fileprivate init(_ term: PredicateTerm, in context: FilterContext) throws(PredicateRefusal) {
        self.init(
            term.comparator,
            term.subject,
            try term.value.wire(of: term.subject, in: context),
            distance: term.distance
        )
    }
}

extension PredicateTerm {
    fileprivate init(_ filter: WireFilter, in context: FilterContext) {
        self.init(
            filter.comparator,
            filter.subject,
            PredicateValue(filter.value, of: filter.subject, in: context),
            distance: filter.distance
        )
    }
}

extension WireFilter.Subject {
    /// Whether values of the subject are users, whom the default name may stand for.
    fileprivate var isUser: Bool {
        self == .system(.createdUserRecordName) || self == .system(.modifiedUserRecordName)
    }
}

extension PredicateValue {
    fileprivate func wire(
        of subject: WireFilter.Subject,
        in context: FilterContext
    ) throws(PredicateRefusal) -> FieldValue {
        switch self {
        case .scalar(.reference(let reference)):
            return .reference(try reference.target(of: subject, in: context))
        case .scalar(.location(let location)):
            return .location(
                WireLocation(
                    latitude: location.coordinate.latitude,
                    longitude: location.coordinate.longitude
                )
            )
        case .scalar(.string(let text)): return .string(text)
        case .scalar(.int64(let number)): return .int64(number)
        case .scalar(.double(let number)): return .double(number)
        case .scalar(.date(let date)): return .timestamp(date.millisecondsSince1970)
        case .scalar(.bytes(let data)): return .bytes([UInt8](data))
        case .list(let elements): return try Self.list(elements, of: subject, in: context)
        case .null, .recordID, .other, .scalar(.asset), .scalar(.list):
            throw PredicateRefusal("'\(self)' cannot be compared by CloudKit.")
        }
    }

    /// Whole numbers beside fractions become fractions; all else must be of one type.
    private static func list(
        _ elements: [PredicateValue],
        of subject: WireFilter.Subject,
        in context: FilterContext
    ) throws(PredicateRefusal) -> FieldValue {
        var values: [FieldValue] = []
        for element in elements { values.append(try element.wire(of: subject, in: context)) }
        if Set(values.map(\.type)) == [.int64, .double] {
            values = elements.compactMap { $0.number.map { .double($0) } }
        }
        // NB: choices need a type even when there are none (web-services 4.5).
        let type = values.first?.type ?? .string
        guard values.allSatisfy({ $0.type == type }) else {
            throw PredicateRefusal(
                "The elements of '\(PredicateValue.list(elements))' differ in type.")
        }
        return .list(type.list, values)
    }

    fileprivate init(
        _ wire: FieldValue,
        of subject: WireFilter.Subject,
        in context: FilterContext
    ) {
        switch wire {
        case .list(_, let elements):
            self = .list(elements.map { Self($0, of: subject, in: context) })
        case .reference(let reference) where subject.isUser:
            self = .recordID(context.user(reference.recordName))
        default:
            let home = CKRecord.ID(unchecked: "", zoneID: context.zoneID ?? .default)
            self = .scalar(CKRecord.FieldValue(wire, of: home, in: context.database))
        }
    }
}

extension CKRecord.Reference {
    fileprivate func target(
        of subject: WireFilter.Subject,
        in context: FilterContext
    ) throws(PredicateRefusal) -> WireReference {
        guard subject.isUser else {
            let isAtHome = recordID.zoneID == context.zoneID
            return WireReference(
                recordName: recordID.recordName,
                zoneID: isAtHome ? nil : context.database.wire(recordID.zoneID)
            )
        }
        guard recordID.recordName == CKCurrentUserDefaultName else {
            return WireReference(recordName: recordID.recordName)
        }
        guard let name = context.database.container.userRecordName else {
            throw PredicateRefusal(
                "The current user is not known yet: ask the container for the user's "
                    + "record ID first."
            )
        }
        return WireReference(recordName: name)
    }
}

extension FilterContext {
    /// The record ID of a user an answer names.
    fileprivate func user(_ recordName: String) -> CKRecord.ID {
        let isCurrent = recordName == database.container.userRecordName
        return CKRecord.ID(
            unchecked: isCurrent ? CKCurrentUserDefaultName : recordName,
            zoneID: .default
        )
    }
}
