// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What became of the items of an operation, and so of the operation; what is noted of an
/// item is reported to the app in the same step.
struct OperationLedger {
    /// Where callbacks are called, and how requests are sent.
    let run: OperationRun
    /// The error of each item that failed by itself.
    private var errors: [AnyHashable: CKError] = [:]
    /// Why the operation failed as a whole.
    private(set) var failure: CKError?
    /// What the server reported about the request that was answered last.
    var report = CKError.ServerReport()

    /// Begins with an operation that was started.
    init(_ run: OperationRun) {
        self.run = run
    }

    /// How requests are sent.
    var options: RequestOptions { run.options }

    /// Notes why the operation failed; the first reason stays.
    mutating func fail(_ error: CKError) {
        failure = failure ?? error
    }

    /// Notes the error of an item that has no callback.
    mutating func fail(_ itemID: some Hashable & Sendable, _ error: CKError) {
        errors[AnyHashable(itemID)] = error
    }

    /// Notes what became of an item, and calls its callback.
    mutating func settle<ID: Hashable & Sendable, Value>(
        _ itemID: ID, _ outcome: Result<Value, CKError>, _ callback: ItemCallback<ID, Value>
    ) {
        if case .failure(let error) = outcome { fail(itemID, error) }
        run.callbacks.enqueue { callback.call(itemID, outcome) }
    }

    /// Notes what became of an item to save or to delete, and calls its callback.
    mutating func settle<Item: DatabaseItem>(
        _ change: Change<Item>,
        _ outcome: Result<Void, CKError>,
        _ callbacks: ModifyCallbacks<Item>
    ) {
        switch change {
        case .delete(let itemID): settle(itemID, outcome, callbacks.delete)
        case .save(let item):
            if case .failure(let error) = outcome { fail(item.itemID, error) }
            run.callbacks.enqueue { callbacks.save(item, outcome) }
        }
    }

    /// The error old completion blocks get: of the whole, or a summary (ERR-3).
    var completionError: CKError? {
        if let failure { return failure }
        return errors.isEmpty ? nil : .partial(errors, report: report)
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
                + "items in a single request (\(items)); split it into several"
        )
    }
}

extension Sequence {
    /// Returns the elements in groups of equal keys, in order of their first element.
    func grouped<Key: Hashable>(by key: (Element) -> Key) -> [(key: Key, elements: [Element])] {
        var indices: [Key: Int] = [:]
        var groups: [(key: Key, elements: [Element])] = []
        for element in self {
            let key = key(element)
            if let index = indices[key] {
                groups[index].elements.append(element)
            } else {
                indices[key] = groups.count
                groups.append((key, [element]))
            }
        }
        return groups
    }
}

extension Sequence where Element: Hashable {
    /// Returns the elements in order, each once.
    func uniqued() -> [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}

extension Array {
    /// Returns the elements in order, in pieces of at most `size`.
    func chunked(by size: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
    }
}
