// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import TidebellWire

/// Zones or subscriptions, as far as saving and deleting them is alike.
protocol ModifyItemsEndpoint: Sendable {
    /// What is saved.
    associatedtype Item: Sendable
    /// What tells an item from all others.
    associatedtype ItemID: Hashable & Sendable
    /// What a request says about one item.
    associatedtype Operation: Sendable

    /// The database the items are in.
    var database: DatabaseConnection { get }

    /// Fetches what saving the items needs to know.
    func prepare(_ items: [Item], _ options: RequestOptions) async throws(CKError)
    /// Returns the ID of an item.
    func id(of item: Item) -> ItemID
    /// Returns the operation that saves an item, or says why it cannot be sent.
    func save(_ item: Item) throws(CKError) -> Operation
    /// Returns the operation that deletes an item.
    func delete(_ id: ItemID) -> Operation
    /// Sends the operations; returns what became of each, with the item where it was saved.
    func send(
        _ operations: [Operation],
        _ options: RequestOptions
    ) async throws(CKError) -> (results: [ModifiedItem], report: CKError.ServerReport)
    /// Notes what the server says about an item that was saved, and returns it.
    func saved(_ item: Item, as result: ModifiedItem) -> Item
}

/// What became of one zone or subscription.
enum ModifiedItem: Sendable {
    case zone(WireZone)
    case subscription
    case deleted
    case failed(WireError)
}

/// The work of an operation that saves and deletes zones or subscriptions: one request.
struct ModifyItemsWork<Endpoint: ModifyItemsEndpoint>: Sendable {
    typealias Item = Endpoint.Item
    typealias ItemID = Endpoint.ItemID

    /// The app's callbacks.
    struct Callbacks: @unchecked Sendable {
        // Sendable: called on the operation's callback queue only.
        var save: ((ItemID, Result<Item, any Error>) -> Void)?
        var delete: ((ItemID, Result<Void, any Error>) -> Void)?
        var result: ((Result<Void, any Error>) -> Void)?
        var oldCompletion: (([Item]?, [ItemID]?, (any Error)?) -> Void)?
    }

    private enum Change: Sendable {
        case save(Item)
        case delete(ItemID)
    }

    let endpoint: Endpoint
    let saves: [Item]
    let deletions: [ItemID]
    let callbacks: Callbacks

    /// What was done so far.
    private struct Ledger {
        var outcomes = ItemOutcomes()
        var saved: [Item] = []
        var deleted: [ItemID] = []
    }

    /// Does the work; returns the callback with the result.
    func perform(_ run: OperationRun) async -> LastCallback {
        var ledger = Ledger()
        let changes = saves.map { Change.save($0) } + deletions.map { Change.delete($0) }
        if let error = OperationLimit.check(changes.count) {
            ledger.outcomes.fail(error)
            for change in changes { settle(change, .failure(error), run, &ledger) }
        } else if !changes.isEmpty {
            await send(changes, run, &ledger)
        }
        let callbacks = callbacks
        let ended = UnsafeTransfer(ledger)  // nobody else has it any more
        return LastCallback {
            if let result = callbacks.result {
                result(ended.value.outcomes.result)
            } else {
                callbacks.oldCompletion?(
                    ended.value.saved,
                    ended.value.deleted,
                    ended.value.outcomes.completionError
                )
            }
        }
    }

    private func send(_ changes: [Change], _ run: OperationRun, _ ledger: inout Ledger) async {
        do {
            try await endpoint.prepare(saves, run.options)
        } catch {
            ledger.outcomes.fail(error)
            for change in changes { settle(change, .failure(error), run, &ledger) }
            return
        }
        var sent: [Change] = []
        var operations: [Endpoint.Operation] = []
        for change in changes {
            do {
                operations.append(try operation(for: change))
                sent.append(change)
            } catch {
                settle(change, .failure(error), run, &ledger)
            }
        }
        guard !operations.isEmpty else { return }
        do {
            let (results, report) = try await endpoint.send(operations, run.options)
            ledger.outcomes.report = report
            for (change, result) in zip(sent, results) {
                if case .failed(let error) = result {
                    settle(change, .failure(.server(error, report: report)), run, &ledger)
                } else {
                    settle(change, .success(result), run, &ledger)
                }
            }
        } catch {
            if error.code.concernsWholeOperation || error.code == .limitExceeded {
                ledger.outcomes.fail(error)
            }
            for change in sent { settle(change, .failure(error), run, &ledger) }
        }
    }

    private func operation(for change: Change) throws(CKError) -> Endpoint.Operation {
        switch change {
        case .save(let item): try endpoint.save(item)
        case .delete(let id): endpoint.delete(id)
        }
    }

    private func settle(
        _ change: Change,
        _ outcome: Result<ModifiedItem, CKError>,
        _ run: OperationRun,
        _ ledger: inout Ledger
    ) {
        let callbacks = callbacks
        switch change {
        case .save(let item):
            let id = endpoint.id(of: item)
            let saved = outcome.map { endpoint.saved(item, as: $0) }
            switch saved {
            case .success(let item): ledger.saved.append(item)
            case .failure(let error): ledger.outcomes.fail(id, error)
            }
            run.callbacks.enqueue { callbacks.save?(id, saved.mapError { $0 }) }
        case .delete(let id):
            switch outcome {
            case .success: ledger.deleted.append(id)
            case .failure(let error): ledger.outcomes.fail(id, error)
            }
            run.callbacks.enqueue { callbacks.delete?(id, outcome.map { _ in }.mapError { $0 }) }
        }
    }
}

/// Saving and deleting of zones.
struct RecordZoneChanges: ModifyItemsEndpoint {
    let database: DatabaseConnection

    func prepare(_: [CKRecordZone], _: RequestOptions) {}

    func id(of item: CKRecordZone) -> CKRecordZone.ID { item.zoneID }

    func save(_ item: CKRecordZone) -> ModifyZones.Operation {
        .create(database.wire(item.zoneID))
    }

    func delete(_ id: CKRecordZone.ID) -> ModifyZones.Operation {
        .delete(database.wire(id))
    }

    func send(
        _ operations: [ModifyZones.Operation],
        _ options: RequestOptions
    ) async throws(CKError) -> (results: [ModifiedItem], report: CKError.ServerReport) {
        let request = ModifyZones.Request(operations: operations)
        let answer = try await database.send(ModifyZones.self, request, options)
        let results = answer.value.zones.map { result -> ModifiedItem in
            switch result {
            case .zone(let zone): .zone(zone)
            case .deleted: .deleted
            case .failed(_, let error): .failed(error)
            }
        }
        return (results, answer.report)
    }

    func saved(_ item: CKRecordZone, as result: ModifiedItem) -> CKRecordZone {
        if case .zone(let wire) = result {
            database.learn(from: wire.zoneID)
            var state = CKRecordZone.State(wire)
            state.encryptionScope = item.encryptionScope
            item.applyServerState(state)
        }
        return item
    }
}

/// Saving and deleting of subscriptions.
struct SubscriptionChanges: ModifyItemsEndpoint {
    let database: DatabaseConnection

    func prepare(
        _ items: [CKSubscription],
        _ options: RequestOptions
    ) async throws(CKError) {
        let namesUser = items.contains { item in
            (item as? CKQuerySubscription)?.predicate.namesCurrentUser ?? false
        }
        if namesUser { _ = try await database.container.fetchUserRecordName(options) }
    }

    func id(of item: CKSubscription) -> CKSubscription.ID { item.subscriptionID }

    func save(_ item: CKSubscription) throws(CKError) -> ModifySubscriptions.Operation {
        // Creating one with a known ID replaces it (SUB-30).
        .create(try WireSubscription(item, in: database))
    }

    func delete(_ id: CKSubscription.ID) -> ModifySubscriptions.Operation {
        .delete(subscriptionID: id)
    }

    func send(
        _ operations: [ModifySubscriptions.Operation],
        _ options: RequestOptions
    ) async throws(CKError) -> (results: [ModifiedItem], report: CKError.ServerReport) {
        let request = ModifySubscriptions.Request(operations: operations)
        let answer = try await database.send(ModifySubscriptions.self, request, options)
        let results = answer.value.subscriptions.map { result -> ModifiedItem in
            switch result {
            case .subscription: .subscription
            case .deleted: .deleted
            case .failed(_, let error): .failed(error)
            }
        }
        return (results, answer.report)
    }

    func saved(_ item: CKSubscription, as result: ModifiedItem) -> CKSubscription { item }
}
