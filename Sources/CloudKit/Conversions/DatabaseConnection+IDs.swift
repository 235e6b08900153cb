// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

// How zones and users are named: the app writes "the current user", the wire names who
// that is (ZONE-8).
extension DatabaseConnection {
    /// Returns a zone's ID for a request: the current user's zones without an owner.
    func wire(_ zoneID: CKRecordZone.ID) -> ZoneID {
        let isOwn = zoneID.ownerName == CKCurrentUserDefaultName
        return ZoneID(
            zoneName: zoneID.zoneName,
            ownerRecordName: isOwn ? nil : zoneID.ownerName
        )
    }

    /// Returns the ID of a zone an answer names.
    ///
    /// Every zone of the private database is the current user's, and that of the public
    /// database counts as theirs, as on Apple's systems.
    func zoneID(_ wire: ZoneID) -> CKRecordZone.ID {
        CKRecordZone.ID(
            unchecked: wire.zoneName,
            ownerName: scope == .shared ? ownerName(wire.ownerRecordName) : CKCurrentUserDefaultName
        )
    }

    private func ownerName(_ wire: String?) -> String {
        guard let wire, !wire.isEmpty, wire != container.userRecordName else {
            return CKCurrentUserDefaultName
        }
        return wire
    }

    /// Returns the ID of the user who created or changed a record; nil when the answer
    /// does not name it.
    ///
    /// - Parameter zoneID: The zone of the record, as the answer names it.
    func userRecordID(_ wire: String, zoneID: ZoneID) -> CKRecord.ID? {
        guard !wire.isEmpty else { return nil }
        let isOwner = scope == .private && wire == zoneID.ownerRecordName
        let isCurrentUser = isOwner || wire == container.userRecordName
        return CKRecord.ID(
            unchecked: isCurrentUser ? CKCurrentUserDefaultName : wire,
            zoneID: .default
        )
    }
}

extension ContainerConnection {
    /// The signed-in user's record name, as far as answers contained it.
    var userRecordName: String? {
        identifier.flatMap { session.userRecordName(in: $0) }
    }

    /// Returns the signed-in user's record name, asking the server the first time.
    func fetchUserRecordName(
        _ options: RequestOptions = RequestOptions()
    ) async throws(CKError) -> String {
        // Who is signed in may be somebody else since the last look.
        if accountPin.account != nil, let known = userRecordName { return known }
        return try await fetchCaller(options)
    }

    /// Asks the server who is signed in.
    func fetchCaller(
        _ options: RequestOptions = RequestOptions()
    ) async throws(CKError) -> String {
        let name = try await send(FetchCaller.self, EmptyBody(), options).value.userRecordName
        if let identifier { session.learn(userRecordName: name, in: identifier) }
        return name
    }
}
