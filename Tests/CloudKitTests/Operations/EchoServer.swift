// SPDX-License-Identifier: Apache-2.0
import Foundation

@testable import CloudKit

/// A server that agrees to whatever it is asked, in valid answers of the right length.
enum EchoServer {
    /// Returns the answer to a request.
    static func answer(_ sent: ScriptedTransport.Sent) -> String {
        let body = (try? JSONSerialization.jsonObject(with: Data(sent.body.utf8))) as? [String: Any]
        let request = body ?? [:]
        let endpoint = sent.path.split(separator: "/").suffix(2).joined(separator: "/")
        switch endpoint {
        case "records/modify": return list("records", request["operations"], modified)
        case "records/lookup":
            return list("records", request["records"]) { Answer.record(name($0)) }
        case "records/query":
            return list("records", ["q1", "q2"]) { Answer.record($0 as? String ?? "") }
        case "zones/list": return Answer.zones(Answer.zone("a"), Answer.zone("b"))
        case "zones/lookup":
            return list("zones", request["zones"]) { Answer.zone(text($0, "zoneName")) }
        case "zones/modify": return list("zones", request["operations"], zone)
        case "subscriptions/list": return Answer.subscriptions(subscription("a"))
        case "subscriptions/lookup":
            return list("subscriptions", request["subscriptions"]) {
                subscription(text($0, "subscriptionID"))
            }
        case "subscriptions/modify":
            return list("subscriptions", request["operations"]) { operation in
                let item = member(operation, "subscription")
                return subscription(text(item, "subscriptionID"))
            }
        case "changes/database": return databaseChanges(request)
        case "changes/zone": return list("zones", request["zones"], zoneChanges)
        case "notifications/changes":
            return #"{"notifications":[{"notificationID":"n-1","read":true},"#
                + #"{"notificationID":"n-2","read":true}],"serverChangeToken":"t","#
                + #""moreComing":false}"#
        case "notifications/markRead":
            return #"{"notificationIDs":["a","b"],"failed":[]}"#
        case "notifications/badge": return #"{"value":1}"#
        case "account/webToken": return #"{"webAuthToken":"w"}"#
        case "users/caller": return #"{"userRecordName":"_me"}"#
        default: return "{}"
        }
    }

    private static func modified(_ operation: Any) -> String {
        let record = member(operation, "record")
        let name = text(record, "recordName")
        return text(operation, "operationType") == "forceDelete"
            ? Answer.tombstone(name) : Answer.record(name)
    }

    private static func zone(_ operation: Any) -> String {
        let name = text(member(member(operation, "zone"), "zoneID"), "zoneName")
        return text(operation, "operationType") == "delete"
            ? DatabaseChangesTests.gone(name) : Answer.zone(name)
    }

    private static func subscription(_ id: String) -> String {
        #"{"subscriptionID":"\#(id)","subscriptionType":"database"}"#
    }

    /// Two pages.
    private static func databaseChanges(_ request: [String: Any]) -> String {
        let isFirst = request["syncToken"] == nil
        return DatabaseChangesTests.changes(
            isFirst ? "t1" : "t2", more: isFirst,
            DatabaseChangesTests.changed(isFirst ? "a" : "b")
        )
    }

    /// Two pages of each zone.
    private static func zoneChanges(_ zone: Any) -> String {
        let name = text(member(zone, "zoneID"), "zoneName")
        let isFirst = text(zone, "syncToken").isEmpty
        return isFirst
            ? Answer.page(name, token: "t1", more: true, Answer.record("\(name)1", zone: name))
            : Answer.page(name, token: "t2", Answer.tombstone("\(name)2"))
    }

    // MARK: JSON

    private static func list(_ key: String, _ items: Any?, _ element: (Any) -> String) -> String {
        let elements = (items as? [Any] ?? []).map(element).joined(separator: ",")
        return #"{"\#(key)":[\#(elements)]}"#
    }

    private static func member(_ value: Any, _ key: String) -> Any {
        (value as? [String: Any])?[key] ?? [:]
    }

    private static func text(_ value: Any, _ key: String) -> String {
        (value as? [String: Any])?[key] as? String ?? ""
    }

    private static func name(_ value: Any) -> String { text(value, "recordName") }
}
