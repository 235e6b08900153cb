// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension CKNotification {
    /// Returns the notification a push stands for, as the class of its kind (PUSH-17); nil
    /// when it is not one of CloudKit (PUSH-16).
    static func notification(from userInfo: [AnyHashable: Any]) -> CKNotification? {
        guard let (content, fields) = WirePushPayload.read(userInfo) else { return nil }
        switch content.kind {
        case .query:
            return CKQueryNotification(
                content,
                reason: content.reason.flatMap {
                    CKQueryNotification.Reason(rawValue: $0.rawValue)
                } ?? .recordUpdated,
                fields: fields?.fieldValues(zoneOwner: content.zoneOwner)
            )
        case .zone: return CKRecordZoneNotification(content)
        case .database: return CKDatabaseNotification(content)
        case nil: return CKNotification(content)
        }
    }
}
