// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore
import TidebellWire

/// The rules of filters once more, as plainly and slowly as they can be written, to
/// hold the evaluator against.
struct PlainFilter {
    let filter: WireFilter

    func passes(_ record: RecordView) -> Bool {
        if case .field(let name) = filter.subject, record.fields[name]?.isEncrypted == true {
            return false
        }
        let name = filter.comparator.rawValue
        guard name.hasPrefix("NOT_") else { return holds(name, record) }
        return !holds(String(name.dropFirst(4)), record)
    }

    private func holds(_ comparator: String, _ record: RecordView) -> Bool {
        if filter.subject == .allText {
            guard comparator.hasSuffix("TOKENS") else { return false }
            let readable = record.fields.values.filter { !$0.isEncrypted }.flatMap {
                strings($0.value)
            }
            return contains(comparator, readable)
        }
        guard let found = found(in: record) else { return false }
        let members = elements(found)
        switch comparator {
        case "EQUALS": return equal(found, filter.value)
        case "LESS_THAN": return order(found, filter.value) == .orderedAscending
        case "GREATER_THAN": return order(found, filter.value) == .orderedDescending
        case "LESS_THAN_OR_EQUALS":
            return [.orderedAscending, .orderedSame].contains(order(found, filter.value))
        case "GREATER_THAN_OR_EQUALS":
            return [.orderedDescending, .orderedSame].contains(order(found, filter.value))
        case "NEAR": return near(found)
        case "CONTAINS_ALL_TOKENS", "CONTAINS_ANY_TOKENS":
            return contains(comparator, strings(found))
        case "IN": return (elements(filter.value) ?? []).contains { equal(found, $0) }
        case "LIST_CONTAINS": return (members ?? []).contains { equal($0, filter.value) }
        case "LIST_CONTAINS_ANY", "LIST_CONTAINS_ALL":
            guard let members, let wanted = elements(filter.value) else { return false }
            let hits = wanted.filter { one in members.contains { equal($0, one) } }.count
            return comparator == "LIST_CONTAINS_ANY" ? hits > 0 : hits == wanted.count
        case "BEGINS_WITH": return begins(found)
        case "LIST_MEMBER_BEGINS_WITH": return (members ?? []).contains(where: begins)
        default: return false
        }
    }

    private func found(in record: RecordView) -> FieldValue? {
        guard case .system(let field) = filter.subject else {
            guard case .field(let name) = filter.subject else { return nil }
            return record.fields[name]?.value
        }
        switch field {
        case .recordName: return .string(record.name)
        case .createdTimestamp: return record.created.map { .timestamp($0.timestamp) }
        case .modifiedTimestamp: return record.modified.map { .timestamp($0.timestamp) }
        case .createdUserRecordName: return record.created.map { .string($0.userRecordName) }
        case .modifiedUserRecordName: return record.modified.map { .string($0.userRecordName) }
        case .parent: return record.parent.map { .string($0) }
        case .share: return record.share.map { .string($0) }
        }
    }

    private func equal(_ left: FieldValue, _ right: FieldValue) -> Bool {
        if case .location(let left) = left, case .location(let right) = right {
            return left.latitude == right.latitude && left.longitude == right.longitude
        }
        if case .bytes(let left) = left, case .bytes(let right) = right { return left == right }
        if let left = name(left), let right = name(right) { return left == right }
        return order(left, right) == .orderedSame
    }

    private func order(_ left: FieldValue, _ right: FieldValue) -> ComparisonResult? {
        if let left = number(left), let right = number(right) {
            return left < right
                ? .orderedAscending : left > right ? .orderedDescending : .orderedSame
        }
        if let left = name(left), let right = name(right) {
            return left < right
                ? .orderedAscending : left > right ? .orderedDescending : .orderedSame
        }
        guard name(left) == nil, name(right) == nil, case .string(let left) = left,
            case .string(let right) = right
        else { return nil }
        let (a, b) = (left.lowercased(), right.lowercased())
        return a < b ? .orderedAscending : a > b ? .orderedDescending : .orderedSame
    }

    private func number(_ value: FieldValue) -> Decimal? {
        switch value {
        case .int64(let number), .timestamp(let number): Decimal(number)
        case .double(let number): Decimal(number)
        default: nil
        }
    }

    private func name(_ value: FieldValue) -> String? {
        if case .reference(let reference) = value { return reference.recordName }
        if case .system = filter.subject, case .string(let name) = value { return name }
        return nil
    }

    private func elements(_ value: FieldValue) -> [FieldValue]? {
        if case .list(_, let elements) = value { elements } else { nil }
    }

    private func begins(_ value: FieldValue) -> Bool {
        guard case .string(let text) = value, case .string(let start) = filter.value else {
            return false
        }
        return text.hasPrefix(start)
    }

    private func near(_ value: FieldValue) -> Bool {
        guard case .location(let one) = value, case .location(let other) = filter.value else {
            return false
        }
        // By the chord, where the evaluator goes by the haversine.
        func point(_ location: WireLocation) -> [Double] {
            let (south, east) = (location.latitude * .pi / 180, location.longitude * .pi / 180)
            return [cos(south) * cos(east), cos(south) * sin(east), sin(south)]
        }
        let chord = zip(point(one), point(other)).map { ($0 - $1) * ($0 - $1) }.reduce(0, +)
        return 2 * asin(chord.squareRoot() / 2) * 6_371_008.8 < filter.distance ?? 0
    }

    private func strings(_ value: FieldValue) -> [String] {
        switch value {
        case .string(let text): [text]
        case .list(.stringList, let elements): elements.flatMap(strings)
        default: []
        }
    }

    private func contains(_ comparator: String, _ texts: [String]) -> Bool {
        let found = texts.flatMap(words)
        let wanted = strings(filter.value).flatMap(words)
        let hits = wanted.filter(found.contains).count
        return comparator == "CONTAINS_ANY_TOKENS"
            ? hits > 0 : hits == wanted.count && !wanted.isEmpty
    }

    /// The words of the texts in ``RandomPredicates``.
    private func words(_ text: String) -> [String] {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
            .split(separator: " ").map(String.init).filter { $0 != "the" }
    }
}
