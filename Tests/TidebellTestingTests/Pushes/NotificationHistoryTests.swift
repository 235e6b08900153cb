// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

/// What a device asks of the history; a protocol because Apple deprecated the
/// operations, and tests are to compile without warnings.
private protocol History {
    /// Fetches a page; returns what it holds, and the token for the next.
    func fetch(_ token: CKServerChangeToken?, limit: Int) async throws -> HistoryPage
    /// Marks notifications as read; returns those that are.
    func markRead(_ ids: [CKNotification.ID]) async throws -> [CKNotification.ID]
    func setBadge(_ value: Int) async throws
}

private struct HistoryPage: Sendable {
    var notifications: [CKNotification] = []
    var token: CKServerChangeToken?
    var moreComing = false

    /// Kinds and IDs, for comparisons.
    var kinds: [Int] { notifications.map(\.notificationType.rawValue) }
}

private struct DeviceHistory: History {
    let device: TestDevice

    @available(*, deprecated)
    func fetch(_ token: CKServerChangeToken?, limit: Int) async throws -> HistoryPage {
        try await withCheckedThrowingContinuation { continuation in
            let operation = CKFetchNotificationChangesOperation(previousServerChangeToken: token)
            operation.resultsLimit = limit
            let found = Log<CKNotification>()
            operation.notificationChangedBlock = { found.append($0) }
            operation.fetchNotificationChangesCompletionBlock = {
                [unowned operation] token, error in
                if let error { return continuation.resume(throwing: error) }
                continuation.resume(
                    returning: HistoryPage(
                        notifications: found.entries, token: token,
                        moreComing: operation.moreComing))
            }
            device.container().add(operation)
        }
    }

    @available(*, deprecated)
    func markRead(_ ids: [CKNotification.ID]) async throws -> [CKNotification.ID] {
        try await withCheckedThrowingContinuation { continuation in
            let operation = CKMarkNotificationsReadOperation(notificationIDsToMarkRead: ids)
            operation.markNotificationsReadCompletionBlock = { marked, error in
                if let error { return continuation.resume(throwing: error) }
                continuation.resume(returning: marked ?? [])
            }
            device.container().add(operation)
        }
    }

    @available(*, deprecated)
    func setBadge(_ value: Int) async throws {
        try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Void, any Error>) in
            let operation = CKModifyBadgeOperation(badgeValue: value)
            operation.modifyBadgeCompletionBlock = { error in
                if let error { return continuation.resume(throwing: error) }
                continuation.resume()
            }
            device.container().add(operation)
        }
    }
}

@Suite("The notification history of an app", .finishesClouds)
struct NotificationHistoryTests {
    /// Anna's devices, after pushes of records with these names; with a long body a push
    /// is pruned.
    private func home(notifiedOf names: String..., body: String = "New") async throws -> Household {
        let home = try await Household()
        let subscription = CKQuerySubscription(
            recordType: "FeedItem",
            predicate: NSPredicate(format: "title BEGINSWITH 'long'"),
            subscriptionID: "query"
        )
        let info = CKSubscription.NotificationInfo(alertBody: body, shouldBadge: true)
        info.desiredKeys = ["title"]
        subscription.notificationInfo = info
        try await home.phone.privateDatabase.save(subscription)
        let title = "long " + String(repeating: "x", count: 8_000)
        for name in names {
            try await home.laptop.privateDatabase.save(item(name, title))
            try await home.cloud.settle()
        }
        return home
    }

    private func history(_ device: TestDevice) -> any History { DeviceHistory(device: device) }

    @Test("NOTIF-5, NOTIF-7: the history has what was pushed, whole")
    func whole() async throws {
        let home = try await home(notifiedOf: "a")
        let push = try #require(
            try await home.phone.nextNotification() as? CKQueryNotification)
        let page = try await history(home.phone).fetch(nil, limit: 0)
        let fetched = try #require(page.notifications.first as? CKQueryNotification)
        #expect(page.notifications.count == 1)
        #expect(fetched.notificationID == push.notificationID)
        #expect(fetched.subscriptionID == "query")
        #expect(fetched.recordID == push.recordID)
        #expect(!fetched.isPruned)
        #expect(fetched.recordFields?["title"] is String)
    }

    @Test("NOTIF-7, NOTIF-8: what a push had to leave out is fetched from the history")
    func pruned() async throws {
        let home = try await home(notifiedOf: "a", body: String(repeating: "b", count: 3_900))
        let push = try #require(
            try await home.phone.nextNotification() as? CKQueryNotification)
        #expect(push.isPruned)
        #expect(push.recordFields == nil)
        let page = try await history(home.phone).fetch(nil, limit: 0)
        let fetched = try #require(page.notifications.first as? CKQueryNotification)
        #expect(fetched.notificationID == push.notificationID)
        #expect(!fetched.isPruned)
        #expect(fetched.recordFields?["title"] is String)
    }

    @Test(
        "NOTIF-11, NOTIF-12: page by page to the end; a foreign token is changeTokenExpired",
        .leavesPushes)
    func pages() async throws {
        let home = try await home(notifiedOf: "a", "b", "c")
        let first = try await history(home.phone).fetch(nil, limit: 2)
        #expect(first.notifications.count == 2)
        #expect(first.moreComing)
        let rest = try await history(home.phone).fetch(first.token, limit: 2)
        let names = (first.notifications + rest.notifications)
            .compactMap { ($0 as? CKQueryNotification)?.recordID?.recordName }
        #expect(names == ["a", "b", "c"])
        #expect(!rest.moreComing)
        #expect(try await history(home.phone).fetch(rest.token, limit: 0).notifications == [])
        let code = await ckCode {
            _ = try await history(home.other).fetch(rest.token, limit: 0)
        }
        #expect(code == .changeTokenExpired)
    }

    @Test("NOTIF-13: one that was marked read comes once more, without contents", .leavesPushes)
    func read() async throws {
        let home = try await home(notifiedOf: "a", "b")
        let page = try await history(home.phone).fetch(nil, limit: 0)
        #expect(page.kinds == [1, 1])
        let id = try #require(page.notifications.first?.notificationID)
        #expect(try await history(home.phone).markRead([id]) == [id])
        let next = try await history(home.phone).fetch(page.token, limit: 0)
        #expect(next.kinds == [3])
        #expect(next.notifications.map(\.notificationID) == [id])
        #expect(next.notifications.map(\.subscriptionID) == [nil])
        #expect(try await history(home.phone).fetch(next.token, limit: 0).kinds == [])
        let error = await ckError {
            _ = try await history(home.other).markRead([id])
        }
        #expect(error?.code == .partialFailure)
        #expect((error?.partialErrorsByItemID?[id] as? CKError)?.code == .unknownItem)
    }

    @Test("NOTIF-14: the next push counts from the badge that was set")
    func badge() async throws {
        let home = try await home(notifiedOf: "a", "b")
        try await history(home.phone).setBadge(0)
        _ = home.phone.takePushes()
        try await home.laptop.privateDatabase.save(item("c", "long"))
        let push = try await home.phone.nextPush()
        let aps = try #require(push.userInfo["aps"] as? [String: Any])
        #expect(aps["badge"] as? Int == 1)
    }
}
