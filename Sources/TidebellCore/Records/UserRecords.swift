// SPDX-License-Identifier: Apache-2.0
import TidebellWire

// The records of users: in the public and in each private database one that exists
// without having been saved (ACCT-5).
extension Call {
    /// Returns the user records among these names, as they are before the first save:
    /// without fields. Of private databases only the caller's own is there; the public
    /// one has everybody's.
    ///
    /// - Parameter names: Names of which no record is stored.
    func userRecords(
        _ names: some Sequence<String>, in access: ZoneAccess, _ reader: some UserReading
    ) throws -> [String: StoredRecord] {
        guard access.zoneID.isDefault else { return [:] }
        var records: [String: StoredRecord] = [:]
        for name in names where name.hasPrefix("_") {
            let isOwn = name == user?.recordName
            guard isOwn || access.database.owner == nil,
                let found = try isOwn ? user : reader.user(recordName: name, in: container)
            else { continue }
            let stamp = RecordStamp(
                timestamp: found.createdAt.rawValue, userRecordName: name, deviceID: ""
            )
            records[name] = StoredRecord(
                name: name, type: Names.userRecordType, position: .start, created: stamp,
                modified: stamp, fields: .none
            )
        }
        return records
    }
}
