// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension PushExplanation {
    /// Writes `{"changes":[…],"hints":[…]}`; times are milliseconds since 1970.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("changes")
            writer.array(changes) { $1.write(to: &$0) }
            writer.key("hints")
            writer.array(hints) { $0.string($1) }
        }
    }
}

extension ExplainedChange {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("change", id.position.rawValue)
            writer.member("container", database.container.container)
            writer.member("environment", database.container.environment.rawValue)
            writer.member("database", database.scope.rawValue)
            writer.member("owner", database.ownerName)
            writer.member("zoneName", zoneName)
            switch event {
            case .zoneCreated: writer.member("event", "zoneCreated")
            case .zoneDeleted(let reason):
                writer.member("event", "zoneDeleted")
                writer.member("deletionReason", reason.rawValue)
            case .records(let records, let count):
                writer.member("event", "records")
                writer.member("recordCount", count)
                writer.key("records")
                writer.array(records) { $1.write(to: &$0) }
            }
            writer.member("committedAt", committedAt.rawValue)
            writer.member("originUser", originUserName)
            writer.member("originClientID", originClient)
            writer.member("isTold", isNotified)
            writer.key("subscriptions")
            writer.array(subscriptions) { $1.write(to: &$0) }
            writer.member("hasMoreSubscriptions", hasMoreSubscriptions)
            guard !participants.isEmpty else { return }
            writer.key("participants")
            writer.array(participants) { $1.write(to: &$0) }
            writer.member("hasMoreParticipants", hasMoreParticipants)
        }
    }
}

extension ExplainedParticipant {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("user", userName)
            writer.key("subscriptionIDs")
            writer.array(subscriptionIDs) { $0.string($1) }
            writer.member("outcome", outcome.rawValue)
            writer.member("reason", rule.clause)
            writer.member("rule", rule.number)
        }
    }
}

extension ExplainedChange.Record {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("recordName", name)
            writer.member("recordType", type)
            writer.member("event", event.verb)
        }
    }
}

extension ExplainedSubscription {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("subscriptionID", subscriptionID)
            writer.member("user", userName)
            writer.member("summary", summary)
            writer.member("warning", warning)
            writer.member("unindexed", unindexed)
            writer.member("reason", rule.clause)
            writer.member("rule", rule.number)
            switch outcome {
            case .waiting: writer.member("outcome", "waiting")
            case .doesNotFire: writer.member("outcome", "doesNotFire")
            case .missed: writer.member("outcome", "missed")
            case .notified(let notifications):
                writer.member("outcome", "told")
                writer.key("notifications")
                writer.array(notifications) { $1.write(to: &$0) }
            }
        }
    }
}

extension ExplainedNotification {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("notificationID", notificationID)
            writer.member("recordName", recordName)
            writer.member("pushType", isBackground ? "background" : "alert")
            writer.member("priority", isBackground ? 5 : 10)
            writer.member("payloadSize", payloadSize)
            writer.key("pruned")
            writer.array(pruned) { $0.string($1) }
            writer.member("isMerged", isMerged)
            writer.member("replacedBy", replacedBy)
            writer.member("usedUpSubscription", isLast)
            writer.key("devices")
            writer.array(devices) { $1.write(to: &$0) }
            writer.key("otherDeliveries")
            writer.array(otherAttempts) { $1.write(to: &$0) }
        }
    }
}

extension ExplainedDevice {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("clientID", clientID)
            switch state {
            case .origin: writer.member("state", "origin")
            case .tried: writer.member("state", "tried")
            case .acknowledged: writer.member("state", "acknowledged")
            case .waiting: writer.member("state", "waiting")
            case .registeredLater(let moment):
                writer.member("state", "registeredLater")
                writer.member("registeredAt", moment.rawValue)
            }
            writer.key("deliveries")
            writer.array(attempts) { $1.write(to: &$0) }
        }
    }
}

extension Delivery {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("route", route.rawValue)
            writer.member("clientID", clientID)
            writer.member("at", at.rawValue)
            writer.member("answer", answer)
        }
    }
}
