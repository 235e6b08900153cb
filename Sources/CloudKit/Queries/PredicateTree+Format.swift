// SPDX-License-Identifier: Apache-2.0
import Foundation

// How predicates are written, in the manner of Apple's `predicateFormat`.
extension PredicateTree: CustomStringConvertible {
    /// The predicate as a format; what formats cannot express stands in angle brackets.
    var description: String { format { $0.description } }

    /// Returns the predicate as a format whose values `write` writes.
    func format(_ write: (PredicateValue) -> String) -> String {
        switch self {
        case .constant(true): "TRUEPREDICATE"
        case .constant(false): "FALSEPREDICATE"
        case .comparison(let comparison): comparison.format(write)
        case .and(let parts): Self.joined(parts, by: " AND ", empty: "TRUEPREDICATE", write)
        case .or(let parts): Self.joined(parts, by: " OR ", empty: "FALSEPREDICATE", write)
        case .not(let part): "NOT (\(part.format(write)))"
        }
    }

    private static func joined(
        _ parts: [PredicateTree],
        by word: String,
        empty: String,
        _ write: (PredicateValue) -> String
    ) -> String {
        guard parts.count != 1 else { return parts[0].format(write) }
        guard !parts.isEmpty else { return empty }
        return parts.map { part in
            switch part {
            case .and, .or: "(\(part.format(write)))"
            default: part.format(write)
            }
        }.joined(separator: word)
    }
}

extension PredicateComparison {
    fileprivate func format(_ write: (PredicateValue) -> String) -> String {
        let options = options.isEmpty ? "" : "[\(options)]"
        return (qualifier.map { $0.rawValue + " " } ?? "") + left.format(write)
            + " \(`operator`.rawValue)\(options) " + right.format(write)
    }
}

extension PredicateOperand: CustomStringConvertible {
    /// The expression as a format.
    var description: String { format { $0.description } }

    fileprivate func format(_ write: (PredicateValue) -> String) -> String {
        switch self {
        case .value(let value): return write(value)
        case .keyPath(let path): return Self.escaped(path)
        case .itself: return "SELF"
        case .variable(let name): return "$\(name)"
        case .list(let elements):
            return "{\(elements.map { $0.format(write) }.joined(separator: ", "))}"
        case .function(let function, let parameters):
            return call(function, parameters, write)
        case .path(let source, let path): return "\(source.format(write)).\(path)"
        case .subquery(let collection, let variable, let condition):
            return "SUBQUERY(\(collection.format(write)), $\(variable), \(condition.format(write)))"
        }
    }

    private func call(
        _ function: PredicateFunction,
        _ parameters: [PredicateOperand],
        _ write: (PredicateValue) -> String
    ) -> String {
        let texts = parameters.map { $0.format(write) }
        switch function {
        case .first, .last, .size:
            return texts.joined() + function.rawValue
        case .element where texts.count == 2:
            // NB: `#` marks that a field is meant, not a keyword such as FIRST.
            let isKeyword = PredicateFunction(inBrackets: texts[1]) != nil
            return "\(texts[0])[\(isKeyword ? "#" : "")\(texts[1])]"
        default: break
        }
        if texts.count == 2, let sign = function.sign {
            return "(\(texts[0]) \(sign) \(texts[1]))"
        }
        return "\(function.rawValue)(\(texts.joined(separator: ", ")))"
    }

    /// A key path; one that would be read as a keyword has `#` before it.
    private static func escaped(_ path: String) -> String {
        PredicateParser.isKeyword(path) ? "#\(path)" : path
    }
}

extension PredicateValue: CustomStringConvertible {
    /// The value as a format writes it.
    var description: String {
        switch self {
        case .null: "nil"
        case .scalar(.string(let text)): Self.quoted(text)
        case .scalar(.int64(let number)): "\(number)"
        case .scalar(.double(let number)): number.isFinite ? "\(number)" : "<\(number)>"
        case .scalar(.date(let date)) where !date.isFinite:
            "<Date: \(date.timeIntervalSinceReferenceDate)>"
        case .scalar(.date(let date)):
            "CAST(\(date.timeIntervalSinceReferenceDate), \"NSDate\")"
        case .scalar(let value): "<\(value)>"
        case .recordID(let id): "<CKRecordID: \(id.recordName)>"
        case .list(let elements):
            "{\(elements.map(\.description).joined(separator: ", "))}"
        case .other(let object): "<\(object.type)>"
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return "\"\(quoted)\""
    }
}
