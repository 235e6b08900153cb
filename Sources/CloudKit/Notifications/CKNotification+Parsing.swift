// SPDX-License-Identifier: Apache-2.0
import Foundation

extension CKNotification {
    /// Returns the notification a push stands for; nil when it is not one of CloudKit (PUSH-16).
    ///
    /// Accepts whatever the network sends: unknown keys are ignored, values of the wrong
    /// type count as missing.
    static func notification(from userInfo: [AnyHashable: Any]) -> CKNotification? {
        guard let push = PushDictionary(userInfo), let ck = PushDictionary(push["ck"]) else {
            return nil
        }
        var content = Content()
        content.nid = ck.string("nid")
        content.containerIdentifier = ck.string("cid")
        content.ownerName = ck.string("ckuserid")
        content.isPruned = ck.holds("p")
        if let aps = PushDictionary(push["aps"]) { content.alert = Alert(aps) }
        return notification(of: content, kindIn: ck)
    }

    /// Picks the subclass by the key of the kind: `qry`, `fet` or `met` (PUSH-17).
    private static func notification(
        of content: Content,
        kindIn ck: PushDictionary
    ) -> CKNotification {
        var content = content
        if let query = PushDictionary(ck["qry"]) {
            content.read(query)
            return CKQueryNotification(
                content,
                reason: query.integer("fo").flatMap { CKQueryNotification.Reason(rawValue: $0) }
                    ?? .recordUpdated,
                fields: PushDictionary(query["af"])?.fieldValues(zoneOwner: content.zoneOwner)
            )
        }
        if let zone = PushDictionary(ck["fet"]) {
            content.read(zone)
            return CKRecordZoneNotification(content)
        }
        if let database = PushDictionary(ck["met"]) {
            content.read(database)
            return CKDatabaseNotification(content)
        }
        return CKNotification(content)
    }
}

extension CKNotification.Content {
    /// Reads the dictionary of a kind (PUSH-18).
    fileprivate mutating func read(_ kind: PushDictionary) {
        subscriptionID = kind.string("sid")
        database = kind.integer("dbs")
        zoneName = kind.string("zid")
        zoneOwnerName = kind.string("zoid")
        recordName = kind.string("rid")
    }
}

extension CKNotification.Alert {
    /// Reads the `aps` dictionary (PUSH-24, PUSH-25).
    fileprivate init(_ aps: PushDictionary) {
        badge = aps.integer("badge")
        category = aps.string("category")
        soundName = aps.string("sound") ?? PushDictionary(aps["sound"])?.string("name")
        guard let alert = PushDictionary(aps["alert"]) else {
            body = aps.string("alert")
            return
        }
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
