// SPDX-License-Identifier: Apache-2.0

/// A record as answers carry it (web-services 4.2).
package struct WireRecord: Sendable, Hashable {
    package var recordName: String
    package var recordType: String
    package var recordChangeTag: String
    package var zoneID: ZoneID
    package var fields: RecordFields
    package var created: RecordStamp
    package var modified: RecordStamp
    /// The name of the record this one hangs under in the sharing hierarchy.
    package var parent: String?
    /// What it is to a share; nil for a record that is none, nor the root of one.
    package var sharing: WireSharing?

    /// Creates a record.
    package init(
        recordName: String,
        recordType: String,
        recordChangeTag: String,
        zoneID: ZoneID,
        fields: RecordFields,
        created: RecordStamp,
        modified: RecordStamp,
        parent: String? = nil,
        sharing: WireSharing? = nil
    ) {
        self.recordName = recordName
        self.recordType = recordType
        self.recordChangeTag = recordChangeTag
        self.zoneID = zoneID
        self.fields = fields
        self.created = created
        self.modified = modified
        self.parent = parent
        self.sharing = sharing
    }
}

/// A deleted record as answers carry it.
package struct WireTombstone: Sendable, Hashable {
    package var recordName: String
    package var zoneID: ZoneID?
    /// Sent to clients that opted into the extensions only (TOK-14).
    package var recordType: String?

    /// Creates a tombstone.
    package init(recordName: String, zoneID: ZoneID? = nil, recordType: String? = nil) {
        self.recordName = recordName
        self.zoneID = zoneID
        self.recordType = recordType
    }
}

/// One element of a `records` array: a record, a tombstone or why there is none.
package enum RecordResult: Sendable, Hashable {
    case record(WireRecord)
    case deleted(WireTombstone)
    case failed(recordName: String, WireError)
}
