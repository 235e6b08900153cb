// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What became of the items of an operation, and so of the operation.
struct ItemOutcomes {
    /// The error of each item that failed by itself.
    private(set) var errors: [AnyHashable: CKError] = [:]
    /// Why the operation failed as a whole.
    private(set) var failure: CKError?
    /// What the server said about the request that brought the newest error.
    var report = CKError.ServerReport()

    /// Notes the error of an item.
    mutating func fail(_ item: some Hashable & Sendable, _ error: CKError) {
        errors[AnyHashable(item)] = error
    }

    /// Notes why the operation failed; the first reason stays.
    mutating func fail(_ error: CKError) {
        failure = failure ?? error
    }

    /// The error old completion blocks get: of the whole, or a summary (ERR-3).
    var completionError: CKError? {
        if let failure { return failure }
        return errors.isEmpty ? nil : .partial(errors, report: report)
    }

    /// What result blocks get: failing items do not count, they told so themselves
    /// (ERR-3).
    var result: Result<Void, any Error> {
        if let failure { return .failure(failure) }
        return .success(())
    }
}

/// How many items one operation may have.
enum OperationLimit {
    /// The most items of one operation (LIMIT-1).
    static let items = 400

    /// Returns the error of an operation of `count` items; nil when they are not too many.
    static func check(_ count: Int) -> CKError? {
        guard count > items else { return nil }
        return .local(
            .limitExceeded,
            "Your request contains \(count) items which is more than the maximum number of "
                + "items in a single request (\(items))"
        )
    }
}

extension Sequence {
    /// Returns the elements in groups of equal keys, in order of their first element.
    func grouped<Key: Hashable>(by key: (Element) -> Key) -> [(key: Key, elements: [Element])] {
        var places: [Key: Int] = [:]
        var groups: [(key: Key, elements: [Element])] = []
        for element in self {
            let key = key(element)
            if let place = places[key] {
                groups[place].elements.append(element)
            } else {
                places[key] = groups.count
                groups.append((key, [element]))
            }
        }
        return groups
    }
}

extension Array {
    /// Returns the elements in order, in pieces of at most `size`.
    func chunked(by size: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
    }
}
