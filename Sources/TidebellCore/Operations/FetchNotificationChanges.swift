// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension FetchNotificationChanges {
    /// A page, and the marks in it that no fetch has given out before.
    package struct Page: Sendable, Hashable {
        package var response: Response
        /// To be stored with ``NotificationHistoryWriting/markReadMarksReported(_:of:)``.
        package var newMarks: Set<NotificationSequence>
    }

    /// Returns a page of the caller's notifications (NOTIF-11): all that the log
    /// keeps, of every database, and whichever device was the origin, because the
    /// history is the user's.
    ///
    /// A notification that was read comes once more as a mark to whoever may know
    /// it as unread: every holder of a token from before, and the first fetch
    /// without one. Then it is gone (NOTIF-13).
    package static func page(
        _ request: Request, for call: Call,
        in reader: some NotificationLogReading & NotificationHistoryReading
    ) throws -> Page {
        let user = try call.requireUser().id
        let limit = try call.limits.historyPage(request.resultsLimit)
        let head = try reader.notificationHead(of: user)
        var token = try startingToken(request.serverChangeToken, at: head, for: call, in: reader)
        // One more than asked for shows whether there is more.
        let found = try reader.notificationHistory(
            of: user, after: NotificationSequence(rawValue: token.position.rawValue),
            marks: request.serverChangeToken == nil ? .unreported : .all, limit: limit + 1
        )
        let entries = found.prefix(limit)
        let isComplete = found.count == entries.count
        let position = isComplete ? head : entries.last?.position ?? head
        token.position = Position(rawValue: position.rawValue)
        return Page(
            response: Response(
                notifications: entries.map(Entry.init), serverChangeToken: token.text,
                moreComing: !isComplete
            ),
            newMarks: Set(
                entries.filter { $0.content == .read(isReported: false) }.map(\.position)
            )
        )
    }

    private static func startingToken(
        _ text: String?, at head: NotificationSequence, for call: Call,
        in reader: some NotificationLogReading
    ) throws -> SyncToken {
        let head = Position(rawValue: head.rawValue)
        let database = try call.database().key
        let known = try call.syncToken(
            text, family: .notifications, of: database, named: "serverChangeToken"
        )
        guard let token = known else {
            return call.makeToken(.notifications, in: database, at: .start, baseline: head)
        }
        let floor = Position(
            rawValue: try reader.notificationFloor(of: try call.requireUser().id).rawValue)
        // A first fetch that is still under way cannot have missed anything.
        guard token.position >= floor || token.baseline >= floor else {
            throw WireError.changeTokenExpired(
                "the serverChangeToken is older than the kept notifications"
            )
        }
        guard token.position <= head else {
            throw WireError.changeTokenExpired("the serverChangeToken is ahead of the log")
        }
        return token
    }
}

extension FetchNotificationChanges.Entry {
    /// The wire's form of an entry; a read one has no contents (NOTIF-13).
    fileprivate init(_ entry: HistoryEntry) {
        switch entry.content {
        case .unread(let payload):
            self.init(notificationID: entry.notificationID, payload: payload)
        case .read:
            self.init(notificationID: entry.notificationID, payload: nil)
        }
    }
}

extension Limits {
    /// The notifications of one page; 0 and nil leave it to the server (NOTIF-11).
    fileprivate func historyPage(_ asked: Int?) throws -> Int {
        guard let asked, asked != 0 else { return notificationsPerPage }
        guard asked > 0 else {
            throw WireError.badRequest("resultsLimit is \(asked); it must not be negative")
        }
        return min(asked, notificationsPerPage)
    }
}
