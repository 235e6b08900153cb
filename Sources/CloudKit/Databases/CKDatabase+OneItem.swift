// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What the results of several items are handed over by.
typealias ResultHandler<Value> = @Sendable (Result<Value, any Error>) -> Void

/// What became of each item that was asked for, by its ID.
typealias ItemResults<Item: DatabaseItem> = [Item.ItemID: Result<Item, any Error>]

/// What became of items that were to be saved and deleted.
typealias ModifyResults<Item: DatabaseItem> = (
    saveResults: ItemResults<Item>, deleteResults: [Item.ItemID: Result<Void, any Error>]
)

// From the results of several items, of which there is one, to the forms for one item.
extension Dictionary {
    /// Returns the value of the only item asked for, or throws its error.
    func only<Item>(_ id: Key) throws -> Item where Value == Result<Item, any Error> {
        guard let result = self[id] else {
            throw CKError.local(.internalError, "The operation had no result for '\(id)'.")
        }
        return try result.get()
    }
}

extension Result where Failure == any Error {
    /// Hands the only item asked for, or its error, to a completion handler.
    func hand<ID: Hashable, Item>(
        _ id: ID,
        to handler: (Item?, (any Error)?) -> Void
    ) where Success == [ID: Result<Item, any Error>] {
        do {
            handler(try get().only(id), nil)
        } catch {
            handler(nil, error)
        }
    }

    /// Hands the ID of the only item asked for, or its error, to a completion handler.
    func handID<ID: Hashable>(
        _ id: ID,
        to handler: (ID?, (any Error)?) -> Void
    ) where Success == [ID: Result<Void, any Error>] {
        do {
            try get().only(id)
            handler(id, nil)
        } catch {
            handler(nil, error)
        }
    }

    /// Hands the value or the error to a completion handler.
    func hand(to handler: (Success?, (any Error)?) -> Void) {
        switch self {
        case .success(let value): handler(value, nil)
        case .failure(let error): handler(nil, error)
        }
    }
}

extension Array {
    /// Returns all items, or the first error among them.
    func allOrError<Item>() -> Result<[Item], any Error> where Element == Result<Item, any Error> {
        Result { try map { try $0.get() } }
    }
}
