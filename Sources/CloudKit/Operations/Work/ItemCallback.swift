// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The app's block for items of one kind; of an old and a new one the new one is called
/// (OP-11).
struct ItemCallback<ID, Value>: @unchecked Sendable {
    // Sendable: called on the operation's callback queue only.

    /// Hands the app an item, or why there is none.
    let call: (ID, Result<Value, CKError>) -> Void

    /// Takes the app's blocks.
    init(
        _ new: ((ID, Result<Value, any Error>) -> Void)?,
        old: ((ID, Result<Value, CKError>) -> Void)? = nil
    ) {
        call = { itemID, outcome in
            if let new { new(itemID, outcome.mapError { $0 }) } else { old?(itemID, outcome) }
        }
    }
}

extension ItemCallback where ID == CKRecord.ID, Value == CKRecord {
    /// Takes the app's blocks for records, the old of which receives no failures.
    init(
        _ new: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)? = nil,
        oldRecord old: ((CKRecord) -> Void)?
    ) {
        self.init(new) { _, outcome in
            if case .success(let record) = outcome { old?(record) }
        }
    }
}

/// The app's blocks of an operation that fetches items by their IDs.
struct FetchCallbacks<Item: DatabaseItem>: @unchecked Sendable {
    // Sendable: called on the operation's callback queue only.

    /// Reports how much of an item is there, from 0 to 1.
    let progress: ((Item.ItemID, Double) -> Void)?
    /// Hands over an item, or why there is none.
    let item: ItemCallback<Item.ItemID, Item>
    /// Reports how the operation ended; the old block gets what was found.
    let completion: Completion<Void>

    /// Takes the app's blocks.
    init(
        progress: ((Item.ItemID, Double) -> Void)? = nil,
        item new: ((Item.ItemID, Result<Item, any Error>) -> Void)?,
        oldItem old: ((Item?, Item.ItemID?, (any Error)?) -> Void)? = nil,
        result: ((Result<Void, any Error>) -> Void)?,
        oldCompletion: (([Item.ItemID: Item]?, (any Error)?) -> Void)?
    ) {
        self.progress = progress
        var found: [Item.ItemID: Item] = [:]
        item = ItemCallback { itemID, outcome in
            if case .success(let item) = outcome {
                found[itemID] = item
                progress?(itemID, 1)
            }
            if let new { return new(itemID, outcome) }
            switch outcome {
            case .success(let item): old?(item, itemID, nil)
            case .failure(let error): old?(nil, itemID, error)
            }
        }
        completion = Completion(result) { _, error in oldCompletion?(found, error) }
    }
}

/// The app's blocks of an operation that saves and deletes items.
struct ModifyCallbacks<Item: DatabaseItem>: @unchecked Sendable {
    // Sendable: called on the operation's callback queue only.

    /// Reports how much of an item was sent, from 0 to 1.
    let progress: ((Item, Double) -> Void)?
    /// Reports whether an item was saved.
    let save: (Item, Result<Void, CKError>) -> Void
    /// Reports whether an item was deleted.
    let delete: ItemCallback<Item.ItemID, Void>
    /// Reports how the operation ended; the old block gets what was saved and deleted.
    let completion: Completion<Void>

    /// Takes the app's blocks.
    init(
        progress: ((Item, Double) -> Void)? = nil,
        save new: ((Item.ItemID, Result<Item, any Error>) -> Void)?,
        oldSave old: ((Item, (any Error)?) -> Void)? = nil,
        delete: ((Item.ItemID, Result<Void, any Error>) -> Void)?,
        result: ((Result<Void, any Error>) -> Void)?,
        oldCompletion: (([Item]?, [Item.ItemID]?, (any Error)?) -> Void)?
    ) {
        self.progress = progress
        var saved: [Item] = []
        var deleted: [Item.ItemID] = []
        save = { item, outcome in
            if case .success = outcome {
                saved.append(item)
                progress?(item, 1)
            }
            if let new { return new(item.itemID, outcome.map { item }.mapError { $0 }) }
            switch outcome {
            case .success: old?(item, nil)
            case .failure(let error): old?(item, error)
            }
        }
        self.delete = ItemCallback { itemID, outcome in
            if case .success = outcome { deleted.append(itemID) }
            delete?(itemID, outcome)
        }
        completion = Completion(result) { _, error in oldCompletion?(saved, deleted, error) }
    }
}
