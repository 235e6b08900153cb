// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

/// Runs an operation of the notification history; a protocol because the classes are
/// deprecated, and tests of them are to compile without warnings.
private protocol HistoryCall {
    func run(on container: CKContainer, _ log: CallbackLog) async
}

/// Those of ``CKFetchNotificationChangesOperation``.
private struct FetchHistory: HistoryCall {
    var token: String?
    var limit = 0

    @available(*, deprecated)
    func run(on container: CKContainer, _ log: CallbackLog) async {
        let operation = CKFetchNotificationChangesOperation(
            previousServerChangeToken: token.map { CKServerChangeToken(syncToken: $0) }
        )
        operation.resultsLimit = limit
        operation.notificationChangedBlock = { notification in
            let id = notification.notificationID?.rawValue ?? "nil"
            log.add("\(id) type \(notification.notificationType.rawValue)")
            guard let query = notification as? CKQueryNotification else { return }
            let name = query.recordID?.recordName ?? "nil"
            log.add("record \(name) \(query.recordFields?["title"] ?? "-") \(query.isPruned)")
        }
        operation.fetchNotificationChangesCompletionBlock = { [unowned operation] token, error in
            log.add("end \(token.plain) \(operation.moreComing) \(text(error))")
        }
        await container.runToEnd(operation)
    }
}

/// Those of ``CKMarkNotificationsReadOperation``.
private struct MarkRead: HistoryCall {
    var ids: [String]

    @available(*, deprecated)
    func run(on container: CKContainer, _ log: CallbackLog) async {
        let operation = CKMarkNotificationsReadOperation(
            notificationIDsToMarkRead: ids.map { CKNotification.ID($0) }
        )
        operation.markNotificationsReadCompletionBlock = { marked, error in
            let marked = marked?.map(\.rawValue).joined(separator: ",") ?? "nil"
            let failed = (error as? CKError)?.partialErrorsByItemID?.keys
                .compactMap { ($0 as? CKNotification.ID)?.rawValue }
            log.add("end [\(marked)] failed \(failed ?? []) \(text(error))")
        }
        await container.runToEnd(operation)
    }
}

/// Those of ``CKModifyBadgeOperation``.
private struct SetBadge: HistoryCall {
    var value: Int

    @available(*, deprecated)
    func run(on container: CKContainer, _ log: CallbackLog) async {
        let operation = CKModifyBadgeOperation(badgeValue: value)
        operation.modifyBadgeCompletionBlock = { log.add("end \(text($0))") }
        await container.runToEnd(operation)
    }
}

extension CKContainer {
    /// Adds an operation and returns when it has finished.
    fileprivate func runToEnd(_ operation: CKOperation) async {
        await withCheckedContinuation { continuation in
            operation.completionBlock = { continuation.resume() }
            add(operation)
        }
    }
}

@Suite("Operations of the notification history")
struct NotificationHistoryTests {
    private func run(_ call: any HistoryCall, _ transport: ScriptedTransport) async -> [String] {
        let log = CallbackLog()
        await call.run(on: TestDevice(transport).container, log)
        return log.lines
    }

    @Test("NOTIF-5, NOTIF-7, NOTIF-11, NOTIF-13: one page of notifications, whole or read")
    func page() async {
        let payload =
            #"{"aps":{"content-available":1},"ck":{"cid":"iCloud.notes","nid":"n-1","#
            + #""qry":{"rid":"r","sid":"q","fo":1,"dbs":1,"zid":"Notes","zoid":"_me","#
            + #""af":{"title":"T"}}}}"#
        let transport = ScriptedTransport(
            answering: """
                {"notifications":[{"notificationID":"n-1","read":false,"payload":\(payload)},\
                {"notificationID":"n-2","read":true}],"serverChangeToken":"t2","moreComing":true}
                """
        )
        let lines = await run(FetchHistory(token: "t1", limit: 2), transport)
        #expect(lines == ["n-1 type 1", "record r T false", "n-2 type 3", "end t2 true nil"])
        let sent = transport.sent
        #expect(sent.map(\.body) == [#"{"serverChangeToken":"t1","resultsLimit":2}"#])
        #expect(sent.map(\.path) == ["/ext/1/iCloud.notes/development/notifications/changes"])
        #expect(sent.map(\.query["clientId"]) == ["device-1"])
        #expect(sent.map(\.query["ckWebAuthToken"]) == ["web+token/1="])
    }

    @Test("NOTIF-12: an expired token is changeTokenExpired, after which nil starts again")
    func expired() async {
        let transport = ScriptedTransport { _, number in
            number == 0
                ? .json(
                    #"{"serverErrorCode":"BAD_REQUEST","reason":"old","ext":{"ckCode":21}}"#,
                    status: 400
                )
                : .json(#"{"notifications":[],"serverChangeToken":"t","moreComing":false}"#)
        }
        #expect(
            await run(FetchHistory(token: "x"), transport)
                == ["end nil false changeTokenExpired: old"]
        )
        #expect(await run(FetchHistory(), transport) == ["end t false nil"])
        #expect(transport.sent.map(\.body) == [#"{"serverChangeToken":"x"}"#, "{}"])
    }

    @Test("An entry that is no notification fails the fetch before anything is reported")
    func unreadable() async {
        let transport = ScriptedTransport(
            answering: """
                {"notifications":[{"notificationID":"n","payload":[]}],"serverChangeToken":"t"}
                """
        )
        #expect(
            await run(FetchHistory(), transport) == [
                "end nil false internalError: The server's answer holds a notification, 'n', "
                    + "that cannot be read."
            ]
        )
    }

    @Test("NOTIF-13: marking returns which are marked; unknown ones fail for themselves")
    func marking() async {
        let transport = ScriptedTransport(
            answering: #"{"notificationIDs":["a"],"failed":["#
                + Answer.failure(#""notificationID":"b""#, "NOT_FOUND") + "]}"
        )
        #expect(
            await run(MarkRead(ids: ["a", "b"]), transport)
                == ["end [a] failed [\"b\"] partialFailure: Failed to modify some items (1)."]
        )
        #expect(transport.sent.map(\.body) == [#"{"notificationIDs":["a","b"]}"#])
        #expect(
            transport.sent.map(\.path) == ["/ext/1/iCloud.notes/development/notifications/markRead"]
        )
        #expect(await run(MarkRead(ids: []), transport) == ["end [] failed [] nil"])
        let many = await run(MarkRead(ids: (0...400).map { "\($0)" }), transport)
        #expect(many.first?.hasPrefix("end [nil] failed [] limitExceeded:") == true)
        #expect(transport.sent.count == 1)
    }

    @Test("NOTIF-14: the badge is set, or the server's error describes why not")
    func badge() async {
        let transport = ScriptedTransport { _, number in
            number == 0
                ? .json(#"{"value":3}"#)
                : .json(#"{"serverErrorCode":"BAD_REQUEST","reason":"negative"}"#, status: 400)
        }
        #expect(await run(SetBadge(value: 3), transport) == ["end nil"])
        #expect(await run(SetBadge(value: -1), transport) == ["end invalidArguments: negative"])
        #expect(transport.sent.map(\.body) == [#"{"value":3}"#, #"{"value":-1}"#])
    }
}
