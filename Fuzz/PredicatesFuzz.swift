// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Predicate formats: a text is refused with a reason, or is a predicate that can be printed,
/// evaluated, and sent; its printed form is parsed to the same, and what a server answers is
/// what was sent. The first byte chooses the arguments.
func fuzzPredicates(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let format = String(decoding: input.dropFirst(), as: UTF8.self)
    guard let tree = try? PredicateParser.parse(format, arguments(first)) else { return }
    checkPrint(tree)
    // Regular expressions take as long as they take; that is the app's affair.
    if !tree.description.contains("MATCHES") {
        _ = PredicateEvaluation(note, variables: ["v": 1]).holds(tree)
        _ = PredicateEvaluation(nil, variables: [:]).holds(tree)
    }
    checkFilters(tree)
}

private func checkPrint(_ tree: PredicateTree) {
    let print = tree.description
    do {
        let again = try PredicateParser.parse(print)
        require(again.description == print, "'\(print)' prints as '\(again.description)'")
    } catch {
        // Objects stand in angle brackets, which no format has; parentheses nest deeper than
        // what they stand for.
        let isExcused = print.contains("<") || error.reason.contains("nested")
        require(isExcused, "'\(print)' is a format: \(error)")
    }
}

private func checkFilters(_ tree: PredicateTree) {
    guard let terms = try? tree.terms() else { return }
    _ = terms
    guard let sent = try? tree.predicate.filters(in: context) else { return }
    let answered = PredicateTree(sent, in: context)
    guard let again = try? answered.predicate.filters(in: context) else {
        fatalError("Broken: what is sent can be asked again: \(sent)")
    }
    require("\(again)" == "\(sent)", "\(sent) came back as \(again)")
}

private let context = FilterContext(database: fuzzDatabase, zoneID: .default)

private let note: CKRecord = {
    let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
    record["title"] = "hello"
    record["count"] = 3
    record["tags"] = ["a", "b"]
    record["when"] = Date(timeIntervalSinceReferenceDate: 0)
    record["place"] = CLLocation(latitude: 1, longitude: 2)
    record["parent"] = CKRecord.Reference(recordID: record.recordID, action: .none)
    return record
}()

private func arguments(_ choice: UInt8) -> [Any] {
    let all: [Any] = [
        "text", 7, 2.5, Date(timeIntervalSinceReferenceDate: 1), ["a", "b"], [1, 2.5], NSNull(),
        CKRecord.ID(recordName: "r"), CLLocation(latitude: 3, longitude: 4), Data([1, 2]),
        CKRecord.Reference(recordID: CKRecord.ID(recordName: "q"), action: .none),
        [Date.distantFuture, Date.distantPast], Double.infinity, UInt64.max,
    ]
    let start = Int(choice) % all.count
    return Array(all[start...] + all[..<start])
}
