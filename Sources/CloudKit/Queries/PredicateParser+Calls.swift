// SPDX-License-Identifier: Apache-2.0
import Foundation

// Calls of functions, by their names.
extension PredicateParser {
    /// Reads the parameters of a function, whose name was read.
    mutating func call(of name: String) throws(PredicateFormatError) -> PredicateOperand {
        if name.uppercased() == "SUBQUERY" { return try subquery() }
        guard let function = PredicateFunction(named: name) else {
            throw failure("there is no function '\(name)'")
        }
        let parameters = try elements(until: ")")
        let count = function.parameterCount
        guard parameters.count == count else {
            let takes = count == 0 ? "no parameters" : "\(count) parameter\(count == 1 ? "" : "s")"
            throw failure("\(function.rawValue) takes \(takes), not \(parameters.count)")
        }
        guard function == .cast else { return .function(function, parameters) }
        guard case .value(.scalar(.string(let type))) = parameters[1],
            PredicateFunction.castClasses.contains(type)
        else { throw failure("CAST makes NSDate, NSNumber, NSDecimalNumber or NSString") }
        return Self.date(castFrom: parameters) ?? .function(.cast, parameters)
    }

    /// `CAST(seconds, "NSDate")`: how Apple's class writes times, in seconds since 2001.
    private static func date(castFrom parameters: [PredicateOperand]) -> PredicateOperand? {
        guard parameters.count == 2, parameters[1] == .value(.scalar(.string("NSDate"))) else {
            return nil
        }
        switch parameters[0] {
        case .value(.scalar(.double(let seconds))):
            return .value(PredicateValue(Date(timeIntervalSinceReferenceDate: seconds)))
        case .value(.scalar(.int64(let seconds))):
            return .value(PredicateValue(Date(timeIntervalSinceReferenceDate: Double(seconds))))
        default: return nil
        }
    }

    private mutating func subquery() throws(PredicateFormatError) -> PredicateOperand {
        try advance()
        let collection = try nestedExpression()
        try expect(",")
        guard case .variable(let name) = token else { throw failure("expected a $variable") }
        try advance()
        try expect(",")
        let condition = try predicate(try disjunction())
        try expect(")")
        return .subquery(collection, variable: name, condition)
    }
}
