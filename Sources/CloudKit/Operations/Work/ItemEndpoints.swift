// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// The endpoints of zones or of subscriptions, as far as they are alike.
protocol ItemEndpoints: Sendable {
    /// What is fetched, saved and deleted.
    associatedtype Item: DatabaseItem
    /// What a request to modify contains about one item.
    associatedtype Operation: Sendable
    /// What an answer contains about one item.
    associatedtype ItemResult: Sendable

    /// Asks for all items there are.
    func list(_ options: RequestOptions) async throws(CKError) -> WebServicesAnswer<[ItemResult]>

    /// Asks for items by their IDs; the results are in that order.
    func lookUp(
        _ itemIDs: [Item.ItemID], _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<[ItemResult]>

    /// Reads an item of an answer, or why there is none.
    ///
    /// - Parameter itemID: The ID that was asked for; nil is the one the answer names.
    func read(
        _ result: ItemResult, of itemID: Item.ItemID?, _ report: CKError.ServerReport
    ) -> (Item.ItemID, Result<Item, CKError>)

    /// Fetches what saving the items needs to know.
    func prepare(saving items: [Item], _ options: RequestOptions) async throws(CKError)

    /// Returns the operation for a change, or fails with why it cannot be sent.
    func operation(for change: Change<Item>) throws(CKError) -> Operation

    /// Sends operations; the results are in their order.
    func modify(
        _ operations: [Operation], _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<[ItemResult]>

    /// Returns what became of a change; an item that was saved takes what the server returns
    /// of it.
    func outcome(
        of change: Change<Item>, _ result: ItemResult, _ report: CKError.ServerReport
    ) -> Result<Void, CKError>
}

/// The endpoints of a database's zones.
struct RecordZoneEndpoints: ItemEndpoints {
    let database: DatabaseConnection

    func list(_ options: RequestOptions) async throws(CKError) -> WebServicesAnswer<[ZoneResult]> {
        try await database.send(ListZones.self, EmptyBody(), options).map(\.zones)
    }

    func lookUp(
        _ zoneIDs: [CKRecordZone.ID], _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<[ZoneResult]> {
        let request = LookupZones.Request(zones: zoneIDs.map(database.wire))
        return try await database.send(LookupZones.self, request, options).map(\.zones)
    }

    func read(
        _ result: ZoneResult, of zoneID: CKRecordZone.ID?, _ report: CKError.ServerReport
    ) -> (CKRecordZone.ID, Result<CKRecordZone, CKError>) {
        switch result {
        case .zone(let wire):
            database.learn(from: wire.zoneID)
            let zoneID = zoneID ?? database.zoneID(wire.zoneID)
            return (zoneID, .success(CKRecordZone(zoneID: zoneID, state: .init(wire, of: zoneID))))
        case .deleted(let wire, _):
            let reason = "Zone '\(wire.zoneName)' was deleted."
            return (
                zoneID ?? database.zoneID(wire),
                .failure(.server(.zoneNotFound, reason, report: report))
            )
        case .failed(let wire, let error):
            let zoneID = zoneID ?? database.zoneID(wire)
            return (zoneID, .failure(.server(error, report: report, of: .zone(zoneID))))
        }
    }

    func prepare(saving _: [CKRecordZone], _: RequestOptions) {}

    func operation(for change: Change<CKRecordZone>) -> ModifyZones.Operation {
        switch change {
        case .save(let zone): .create(database.wire(zone.zoneID))
        case .delete(let zoneID): .delete(database.wire(zoneID))
        }
    }

    func modify(
        _ operations: [ModifyZones.Operation], _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<[ZoneResult]> {
        let request = ModifyZones.Request(operations: operations)
        return try await database.send(ModifyZones.self, request, options).map(\.zones)
    }

    func outcome(
        of change: Change<CKRecordZone>, _ result: ZoneResult, _ report: CKError.ServerReport
    ) -> Result<Void, CKError> {
        switch (change, result) {
        case (let change, .failed(_, let error)):
            let zoneID =
                switch change {
                case .save(let zone): zone.zoneID
                case .delete(let zoneID): zoneID
                }
            return .failure(.server(error, report: report, of: .zone(zoneID)))
        case (.save(let zone), .zone(let wire)):
            database.learn(from: wire.zoneID)
            var state = CKRecordZone.State(wire, of: zone.zoneID)
            state.encryptionScope = zone.encryptionScope
            zone.applyServerState(state)
            return .success(())
        case (.save(let zone), .deleted):
            return .failure(.notSaved("zone '\(zone.zoneID.zoneName)'", report))
        case (.delete, _): return .success(())
        }
    }
}

/// The endpoints of a database's subscriptions.
struct SubscriptionEndpoints: ItemEndpoints {
    let database: DatabaseConnection

    func list(
        _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<[SubscriptionResult]> {
        try await database.send(ListSubscriptions.self, EmptyBody(), options).map(\.subscriptions)
    }

    func lookUp(
        _ subscriptionIDs: [CKSubscription.ID], _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<[SubscriptionResult]> {
        let request = LookupSubscriptions.Request(subscriptionIDs: subscriptionIDs)
        return try await database.send(LookupSubscriptions.self, request, options)
            .map(\.subscriptions)
    }

    func read(
        _ result: SubscriptionResult,
        of subscriptionID: CKSubscription.ID?,
        _ report: CKError.ServerReport
    ) -> (CKSubscription.ID, Result<CKSubscription, CKError>) {
        switch result {
        case .subscription(let wire):
            let made = Result { () throws(CKError) in
                try CKSubscription.make(wire, in: database)
            }
            return (subscriptionID ?? wire.subscriptionID, made)
        case .deleted(let wire):
            let reason = "Subscription '\(wire)' was deleted."
            return (
                subscriptionID ?? wire, .failure(.server(.unknownItem, reason, report: report))
            )
        case .failed(let wire, let error):
            let subscriptionID = subscriptionID ?? wire
            let subject = CKError.Subject.subscription(subscriptionID)
            return (subscriptionID, .failure(.server(error, report: report, of: subject)))
        }
    }

    func prepare(
        saving subscriptions: [CKSubscription], _ options: RequestOptions
    ) async throws(CKError) {
        let namesUser = subscriptions.contains { subscription in
            (subscription as? CKQuerySubscription)?.predicate.namesCurrentUser ?? false
        }
        if namesUser { _ = try await database.container.fetchUserRecordName(options) }
    }

    func operation(
        for change: Change<CKSubscription>
    ) throws(CKError) -> ModifySubscriptions.Operation {
        switch change {
        // Creating one with a known ID replaces it (SUB-30).
        case .save(let subscription): .create(try WireSubscription(subscription, in: database))
        case .delete(let subscriptionID): .delete(subscriptionID: subscriptionID)
        }
    }

    func modify(
        _ operations: [ModifySubscriptions.Operation], _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<[SubscriptionResult]> {
        let request = ModifySubscriptions.Request(operations: operations)
        return try await database.send(ModifySubscriptions.self, request, options)
            .map(\.subscriptions)
    }

    func outcome(
        of change: Change<CKSubscription>,
        _ result: SubscriptionResult,
        _ report: CKError.ServerReport
    ) -> Result<Void, CKError> {
        switch (change, result) {
        case (.save(let subscription), .failed(_, let error)):
            .failure(
                .server(error, report: report, of: .subscription(subscription.subscriptionID)))
        case (.delete(let subscriptionID), .failed(_, let error)):
            .failure(.server(error, report: report, of: .subscription(subscriptionID)))
        case (.save(let subscription), .deleted):
            .failure(.notSaved("subscription '\(subscription.subscriptionID)'", report))
        case (.save, .subscription), (.delete, _): .success(())
        }
    }
}

extension CKError {
    /// Creates the error of an item that the server deleted when it was to save it.
    static func notSaved(_ item: String, _ report: ServerReport) -> CKError {
        .server(
            .internalError,
            "The server reports that \(item) is deleted, but it was to be saved.",
            report: report
        )
    }
}
