// SPDX-License-Identifier: Apache-2.0

// Requests about many items, and the answers that have one for each.

extension LookupRecords.Request {
    package var itemCount: Int? { records.count }
    package var recordZone: ZoneID? { zoneID }
}

extension ModifyRecords.Request {
    package var itemCount: Int? { operations.count }
    package var recordZone: ZoneID? { zoneID }
}

extension ModifyRecords.Response {
    package var itemCount: Int? { records.count }
}

extension QueryRecords.Request {
    package var recordZone: ZoneID? { zoneID }
}

extension UploadAssets.Request {
    package var itemCount: Int? { tokens.count }
}

extension UploadAssets.Response {
    package var itemCount: Int? { tokens.count }
}

extension FetchZoneChanges.Request {
    package var itemCount: Int? { zones.count }
}

extension FetchZoneChanges.Response {
    package var itemCount: Int? { zones.count }
}

extension LookupZones.Request {
    package var itemCount: Int? { zones.count }
}

extension ModifyZones.Request {
    package var itemCount: Int? { operations.count }
}

extension ZonesResponse {
    package var itemCount: Int? { zones.count }
}

extension LookupSubscriptions.Request {
    package var itemCount: Int? { subscriptionIDs.count }
}

extension ModifySubscriptions.Request {
    package var itemCount: Int? { operations.count }
}

extension SubscriptionsResponse {
    package var itemCount: Int? { subscriptions.count }
}

extension MarkNotificationsRead.Request {
    package var itemCount: Int? { notificationIDs.count }
}
