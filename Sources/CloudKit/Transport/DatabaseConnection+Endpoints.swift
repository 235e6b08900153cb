// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import TidebellWire

// One function for each endpoint: the typed request in, the typed answer out.
extension DatabaseConnection {
    /// The endpoint of saves and deletions of records.
    static let modifyRecordsEndpoint = "records/modify"

    /// - Parameter name: The name among the operation's requests.
    func modifyRecords(
        _ request: ModifyRecords.Request,
        named name: String,
        _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<[RecordResult]> {
        var call = post(Self.modifyRecordsEndpoint, isRead: false, zone: request.zoneID) {
            request.write(to: &$0)
        }
        call.name = name
        let answer = try await container.answer(to: call, options: options) {
            try ModifyRecords.Response(from: &$0).records
        }
        return try answer.counted(request.operations.count)
    }

    /// Asks where to send files to.
    func uploadAssets(
        _ request: UploadAssets.Request,
        _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<[UploadAssets.Token]> {
        // Asking twice does no harm: places that are not used expire.
        var call = post("assets/upload", isRead: true, needsUser: true) { request.write(to: &$0) }
        // Each place is for one file, and not for long.
        call.isKept = false
        let answer = try await container.answer(to: call, options: options) {
            try UploadAssets.Response(from: &$0).tokens
        }
        return try answer.counted(request.tokens.count)
    }

    func lookupRecords(
        _ request: LookupRecords.Request,
        _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<[RecordResult]> {
        let call = post("records/lookup", isRead: true, zone: request.zoneID) {
            request.write(to: &$0)
        }
        let answer = try await container.answer(to: call, options: options) {
            try LookupRecords.Response(from: &$0).records
        }
        return try answer.counted(request.records.count)
    }

    func queryRecords(
        _ request: QueryRecords.Request,
        _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<QueryRecords.Response> {
        let call = post("records/query", isRead: true, zone: request.zoneID) {
            request.write(to: &$0)
        }
        return try await container.answer(to: call, options: options) {
            try QueryRecords.Response(from: &$0)
        }
    }

    func fetchZoneChanges(
        _ request: FetchZoneChanges.Request,
        _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<[FetchZoneChanges.ZoneAnswer]> {
        let call = post("changes/zone", isRead: true) { request.write(to: &$0) }
        let answer = try await container.answer(to: call, options: options) {
            try FetchZoneChanges.Response(from: &$0).zones
        }
        return try answer.counted(request.zones.count)
    }

    func fetchDatabaseChanges(
        _ request: FetchDatabaseChanges.Request,
        _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<FetchDatabaseChanges.Response> {
        let call = post("changes/database", isRead: true) { request.write(to: &$0) }
        return try await container.answer(to: call, options: options) {
            try FetchDatabaseChanges.Response(from: &$0)
        }
    }

    /// Lists all zones; by GET, whose answer says which zones are atomic.
    func listZones(
        _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<[ZoneResult]> {
        try await container.answer(
            to: WebServicesCall(scope, "zones/list", isRead: true),
            options: options
        ) { try ZonesResponse(from: &$0).zones }
    }

    func lookupZones(
        _ request: LookupZones.Request,
        _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<[ZoneResult]> {
        let call = post("zones/lookup", isRead: true) { request.write(to: &$0) }
        let answer = try await container.answer(to: call, options: options) {
            try ZonesResponse(from: &$0).zones
        }
        return try answer.counted(request.zones.count)
    }

    func modifyZones(
        _ request: ModifyZones.Request,
        _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<[ZoneResult]> {
        let call = post("zones/modify", isRead: false) { request.write(to: &$0) }
        let answer = try await container.answer(to: call, options: options) {
            try ZonesResponse(from: &$0).zones
        }
        return try answer.counted(request.operations.count)
    }

    func listSubscriptions(
        _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<[SubscriptionResult]> {
        try await container.answer(
            to: WebServicesCall(scope, "subscriptions/list", isRead: true, needsUser: true),
            options: options
        ) { try SubscriptionsResponse(from: &$0).subscriptions }
    }

    func lookupSubscriptions(
        _ request: LookupSubscriptions.Request,
        _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<[SubscriptionResult]> {
        let call = post("subscriptions/lookup", isRead: true) { request.write(to: &$0) }
        let answer = try await container.answer(to: call, options: options) {
            try SubscriptionsResponse(from: &$0).subscriptions
        }
        return try answer.counted(request.subscriptionIDs.count)
    }

    func modifySubscriptions(
        _ request: ModifySubscriptions.Request,
        _ options: RequestOptions
    ) async throws(CKError) -> WebServicesAnswer<[SubscriptionResult]> {
        let call = post("subscriptions/modify", isRead: false) { request.write(to: &$0) }
        let answer = try await container.answer(to: call, options: options) {
            try SubscriptionsResponse(from: &$0).subscriptions
        }
        return try answer.counted(request.operations.count)
    }

    private func post(
        _ endpoint: String,
        isRead: Bool,
        needsUser: Bool = false,
        zone: ZoneID? = nil,
        _ write: (inout JSONWriter) -> Void
    ) -> WebServicesCall {
        WebServicesCall(
            scope,
            endpoint,
            body: JSONWriter.write(write),
            isRead: isRead,
            // Public records can be read without an account, nothing else can (ACCT-3).
            needsUser: needsUser || scope != .public || !isRead
                || endpoint.hasPrefix("subscriptions"),
            zone: zone
        )
    }
}

extension WebServicesAnswer where Value: Collection {
    /// Returns the answer if it has one item for each one asked for; items are told
    /// apart by their place.
    fileprivate func counted(_ expected: Int) throws(CKError) -> Self {
        guard value.count == expected else {
            throw .server(
                .internalError,
                "The server's answer has \(value.count) items for \(expected) requested ones.",
                report: report
            )
        }
        return self
    }
}
