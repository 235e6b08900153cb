// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import TidebellWire

/// Zones or subscriptions, as far as fetching them is alike.
protocol FetchItemsEndpoint: Sendable {
    /// What is fetched.
    associatedtype Item: Sendable
    /// What tells an item from all others.
    associatedtype ItemID: Hashable & Sendable

    /// The database the items are in.
    var database: DatabaseConnection { get }

    /// Fetches all items there are.
    func fetchAll(
        _ options: RequestOptions
    ) async throws(CKError) -> (items: [FetchedItem<Item, ItemID>], report: CKError.ServerReport)

    /// Fetches items by their IDs, in that order.
    func fetch(
        _ ids: [ItemID],
        _ options: RequestOptions
    ) async throws(CKError) -> (items: [FetchedItem<Item, ItemID>], report: CKError.ServerReport)
}

/// A zone or subscription of an answer, or why there is none.
struct FetchedItem<Item: Sendable, ItemID: Hashable & Sendable>: Sendable {
    var id: ItemID
    var result: Result<Item, CKError>
}

/// The work of an operation that fetches zones or subscriptions: one request.
struct FetchItemsWork<Endpoint: FetchItemsEndpoint>: Sendable {
    typealias Item = Endpoint.Item
    typealias ItemID = Endpoint.ItemID

    /// The app's callbacks.
    struct Callbacks: @unchecked Sendable {
        // Sendable: called on the operation's callback queue only.
        var item: ((ItemID, Result<Item, any Error>) -> Void)?
        var result: ((Result<Void, any Error>) -> Void)?
        var oldCompletion: (([ItemID: Item]?, (any Error)?) -> Void)?
    }

    let endpoint: Endpoint
    /// The IDs asked for; nil for all there are.
    let ids: [ItemID]?
    let callbacks: Callbacks

    /// Does the work; returns the callback with the result.
    func perform(_ run: OperationRun) async -> LastCallback {
        var outcomes = ItemOutcomes()
        var found: [ItemID: Item] = [:]
        for item in await fetch(run, &outcomes) {
            switch item.result {
            case .success(let value): found[item.id] = value
            case .failure(let error): outcomes.fail(item.id, error)
            }
            let callbacks = callbacks
            run.callbacks.enqueue { callbacks.item?(item.id, item.result.mapError { $0 }) }
        }
        let callbacks = callbacks
        let ended = (outcomes, found)
        return LastCallback {
            let (outcomes, found) = ended
            if let result = callbacks.result {
                result(outcomes.result)
            } else {
                callbacks.oldCompletion?(found, outcomes.completionError)
            }
        }
    }

    private func fetch(
        _ run: OperationRun,
        _ outcomes: inout ItemOutcomes
    ) async -> [FetchedItem<Item, ItemID>] {
        var seen: Set<ItemID> = []
        let wanted = ids?.filter { seen.insert($0).inserted }
        guard wanted?.isEmpty != true else { return [] }
        do {
            if let error = OperationLimit.check(wanted?.count ?? 0) { throw error }
            let (items, report) =
                if let wanted {
                    try await endpoint.fetch(wanted, run.options)
                } else {
                    try await endpoint.fetchAll(run.options)
                }
            outcomes.report = report
            return items
        } catch let error as CKError {
            // Without IDs there are no items to tell it to.
            if wanted == nil || error.code.concernsWholeOperation || error.code == .limitExceeded {
                outcomes.fail(error)
            }
            return (wanted ?? []).map { FetchedItem(id: $0, result: .failure(error)) }
        } catch {
            preconditionFailure("Fetching fails with errors of CloudKit only, not \(error).")
        }
    }
}

/// Fetching of zones.
struct RecordZoneLookup: FetchItemsEndpoint {
    let database: DatabaseConnection

    func fetchAll(
        _ options: RequestOptions
    ) async throws(CKError) -> (
        items: [FetchedItem<CKRecordZone, CKRecordZone.ID>], report: CKError.ServerReport
    ) {
        let answer = try await database.send(ListZones.self, EmptyBody(), options)
        return (answer.value.zones.map { item($0, id: nil, answer.report) }, answer.report)
    }

    func fetch(
        _ ids: [CKRecordZone.ID],
        _ options: RequestOptions
    ) async throws(CKError) -> (
        items: [FetchedItem<CKRecordZone, CKRecordZone.ID>], report: CKError.ServerReport
    ) {
        let request = LookupZones.Request(zones: ids.map(database.wire))
        let answer = try await database.send(LookupZones.self, request, options)
        let items = zip(ids, answer.value.zones).map { item($1, id: $0, answer.report) }
        return (items, answer.report)
    }

    private func item(
        _ result: ZoneResult,
        id: CKRecordZone.ID?,
        _ report: CKError.ServerReport
    ) -> FetchedItem<CKRecordZone, CKRecordZone.ID> {
        switch result {
        case .zone(let wire):
            database.learn(from: wire.zoneID)
            let id = id ?? database.zoneID(wire.zoneID)
            let zone = CKRecordZone(zoneID: id, state: CKRecordZone.State(wire))
            return FetchedItem(id: id, result: .success(zone))
        case .deleted(let zoneID, _):
            let error = CKError.server(
                .zoneNotFound,
                "Zone '\(zoneID.zoneName)' was deleted.",
                report: report
            )
            return FetchedItem(id: id ?? database.zoneID(zoneID), result: .failure(error))
        case .failed(let zoneID, let error):
            return FetchedItem(
                id: id ?? database.zoneID(zoneID),
                result: .failure(.server(error, report: report))
            )
        }
    }
}

/// Fetching of subscriptions.
struct SubscriptionLookup: FetchItemsEndpoint {
    let database: DatabaseConnection

    func fetchAll(
        _ options: RequestOptions
    ) async throws(CKError) -> (
        items: [FetchedItem<CKSubscription, CKSubscription.ID>], report: CKError.ServerReport
    ) {
        let answer = try await database.send(ListSubscriptions.self, EmptyBody(), options)
        return (answer.value.subscriptions.map { item($0, id: nil, answer.report) }, answer.report)
    }

    func fetch(
        _ ids: [CKSubscription.ID],
        _ options: RequestOptions
    ) async throws(CKError) -> (
        items: [FetchedItem<CKSubscription, CKSubscription.ID>], report: CKError.ServerReport
    ) {
        let request = LookupSubscriptions.Request(subscriptionIDs: ids)
        let answer = try await database.send(LookupSubscriptions.self, request, options)
        let items = zip(ids, answer.value.subscriptions).map { item($1, id: $0, answer.report) }
        return (items, answer.report)
    }

    private func item(
        _ result: SubscriptionResult,
        id: CKSubscription.ID?,
        _ report: CKError.ServerReport
    ) -> FetchedItem<CKSubscription, CKSubscription.ID> {
        switch result {
        case .subscription(let wire):
            let made = Result { () throws(CKError) in
                try CKSubscription.make(wire, in: database)
            }
            return FetchedItem(id: id ?? wire.subscriptionID, result: made)
        case .deleted(let subscriptionID):
            let error = CKError.server(
                .unknownItem,
                "Subscription '\(subscriptionID)' was deleted.",
                report: report
            )
            return FetchedItem(id: id ?? subscriptionID, result: .failure(error))
        case .failed(let subscriptionID, let error):
            return FetchedItem(
                id: id ?? subscriptionID,
                result: .failure(.server(error, report: report))
            )
        }
    }
}
