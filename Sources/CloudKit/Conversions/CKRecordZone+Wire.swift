// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

extension CKRecordZone.State {
    /// What an answer holds about a zone (ZONE-3, ZONE-9).
    init(_ wire: WireZone, of zoneID: CKRecordZone.ID) {
        self.init()
        share = wire.share.map { name in
            CKReference(
                recordID: CKRecordID(unchecked: name, zoneID: zoneID), action: .none)
        }
        capabilities =
            wire.isAtomic ? [.fetchChanges, .atomic, .sharing, .zoneWideSharing] : []
    }
}

extension DatabaseConnection {
    /// Remembers who the current user is: the owner of every private zone.
    func learn(from zoneID: ZoneID) {
        guard scope == .private, let owner = zoneID.ownerRecordName,
            owner != ZoneID.currentUser, let identifier = container.identifier
        else { return }
        container.session.learn(userRecordName: owner, in: identifier)
    }
}
