// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What operations fetch, save and delete by its ID.
protocol DatabaseItem: Sendable {
    /// What distinguishes an item from all others of its kind.
    associatedtype ItemID: Hashable & Sendable

    /// The item's ID.
    var itemID: ItemID { get }
}

extension CKRecord: DatabaseItem {
    var itemID: CKRecord.ID { recordID }
}

extension CKRecordZone: DatabaseItem {
    var itemID: CKRecordZone.ID { zoneID }
}

extension CKSubscription: DatabaseItem {
    var itemID: CKSubscription.ID { subscriptionID }
}

/// What an operation is to do with one item.
enum Change<Item: DatabaseItem>: Sendable {
    case save(Item)
    case delete(Item.ItemID)

    /// The ID of the item.
    var itemID: Item.ItemID {
        switch self {
        case .save(let item): item.itemID
        case .delete(let itemID): itemID
        }
    }
}
