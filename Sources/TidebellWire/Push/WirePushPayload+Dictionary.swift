// SPDX-License-Identifier: Apache-2.0
import Foundation

// The dictionary that an app receives with a push: the JSON as Foundation's values.
extension WirePushPayload {
    /// Reads a dictionary; nil when it is not one of CloudKit (PUSH-16).
    ///
    /// Accepts whatever the network sends: unknown keys are ignored, values of the wrong
    /// type count as missing. The desired fields come apart, since a dictionary does not show
    /// of which type they are.
    package static func read(
        _ userInfo: [AnyHashable: Any]
    ) -> (payload: WirePushPayload, desiredFields: PushDictionary?)? {
        guard let push = PushDictionary(userInfo), let ck = PushDictionary(push["ck"]) else {
            return nil
        }
        var payload = WirePushPayload()
        if let aps = PushDictionary(push["aps"]) { payload.read(aps: aps) }
        payload.containerIdentifier = ck.string("cid")
        payload.ownerRecordName = ck.string("ckuserid")
        payload.notificationID = ck.string("nid")
        payload.isPruned = ck.holds("p")
        for kind in WireSubscription.Kind.allCases {
            guard let event = PushDictionary(ck["\(kind.payloadKey)"]) else { continue }
            payload.kind = kind
            payload.read(event)
            return (payload, PushDictionary(event["af"]))
        }
        return (payload, nil)
    }

    /// Reads the `aps` dictionary (PUSH-24, PUSH-25).
    private mutating func read(aps: PushDictionary) {
        badge = aps.integer("badge")
        soundName = aps.string("sound") ?? PushDictionary(aps["sound"])?.string("name")
        category = aps.string("category")
        isContentAvailable = aps.integer("content-available") == 1
        isMutableContent = aps.integer("mutable-content") == 1
        if let dictionary = PushDictionary(aps["alert"]) {
            alert = WireAlert(dictionary)
        } else {
            alert.body = aps.string("alert")
        }
    }

    /// Reads the dictionary of a kind (PUSH-18).
    private mutating func read(_ event: PushDictionary) {
        subscriptionID = event.string("sid")
        scope = event.integer("dbs").flatMap(DatabaseScope.init(payloadCode:))
        zone = event.string("zid").map {
            ZoneID(zoneName: $0, ownerRecordName: event.string("zoid"))
        }
        recordName = event.string("rid")
        reason = event.integer("fo").flatMap(RecordEvent.init)
    }

    /// Returns the dictionary, with values that have no type on the wire for the desired
    /// keys.
    package func userInfo(desiredFields: [String: Any] = [:]) -> [AnyHashable: Any] {
        let json = try? JSONSerialization.jsonObject(with: Data(encoded()))
        guard var push = json as? [String: Any] else {
            preconditionFailure("A payload is written as an object.")
        }
        if let key = kind.map({ "\($0.payloadKey)" }), !desiredFields.isEmpty,
            var ck = push["ck"] as? [String: Any], var event = ck[key] as? [String: Any]
        {
            event["af"] = desiredFields
            ck[key] = event
            push["ck"] = ck
        }
        return Dictionary(uniqueKeysWithValues: push.map { (AnyHashable($0.key), $0.value) })
    }
}

extension WireAlert {
    fileprivate init(_ alert: PushDictionary) {
        self.init()
        body = alert.string("body")
        localizationKey = alert.string("loc-key")
        localizationArgs = alert.strings("loc-args")
        title = alert.string("title")
        titleLocalizationKey = alert.string("title-loc-key")
        titleLocalizationArgs = alert.strings("title-loc-args")
        subtitle = alert.string("subtitle")
        subtitleLocalizationKey = alert.string("subtitle-loc-key")
        subtitleLocalizationArgs = alert.strings("subtitle-loc-args")
        actionLocalizationKey = alert.string("action-loc-key")
        launchImage = alert.string("launch-image")
    }
}

extension WireSubscription.Kind {
    /// The member of `ck` for the kind (PUSH-17).
    var payloadKey: StaticString {
        switch self {
        case .query: "qry"
        case .zone: "fet"
        case .database: "met"
        }
    }
}
