// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension MarkNotificationsRead {
    /// What a request is about, found but not marked yet.
    package struct Found: Sendable, Hashable {
        /// To be marked with ``NotificationHistoryWriting/markNotificationsRead(_:of:)``.
        package var sequences: Set<NotificationSequence>
        /// The answer once they are marked.
        package var response: Response
    }

    /// Finds the notifications that the caller wants marked as read, for all
    /// devices of the user (PUSH-9); one that was read already counts as marked.
    ///
    /// An ID that the caller's log does not have fails alone with `NOT_FOUND`:
    /// another user's, one past retention, or one that a newer notification has
    /// replaced (PUSH-2).
    package static func find(
        _ request: Request, for call: Call, in reader: some NotificationHistoryReading
    ) throws -> Found {
        let user = try call.requireUser().id
        let known = try reader.notificationSequences(Set(request.notificationIDs), of: user)
        var response = Response(notificationIDs: [])
        for id in request.notificationIDs {
            guard known[id] == nil else {
                response.notificationIDs.append(id)
                continue
            }
            let error = WireError(
                .notFound, "notification '\(WireError.shortened(id))' is not in the user's history"
            )
            response.failed.append(
                Failure(notificationID: id, error: error.visible(to: call))
            )
        }
        return Found(sequences: Set(known.values), response: response)
    }
}
