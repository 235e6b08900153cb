// SPDX-License-Identifier: Apache-2.0

/// `records/modify` (web-services 5.2).
package enum ModifyRecords: WireEndpoint {
    package static let route = WireRoute(.database("records/modify"), .writes)

    /// What an operation does to its record (SAVE-28).
    package enum OperationType: String, Sendable, Hashable, CaseIterable {
        case create
        case update
        case forceUpdate
        case replace
        case forceReplace
        case delete
        case forceDelete

        /// Whether the record's change tag must be given and current.
        package var needsChangeTag: Bool {
            self == .update || self == .replace || self == .delete
        }

        /// Whether the record is deleted.
        package var deletes: Bool { self == .delete || self == .forceDelete }

        /// Whether fields the request does not name are dropped.
        package var replaces: Bool { self == .replace || self == .forceReplace }
    }

    /// One operation of a request.
    package struct Operation: Sendable, Hashable {
        package var type: OperationType
        /// Nil lets the server choose a UUID; creations only.
        package var recordName: String?
        package var recordType: String?
        package var recordChangeTag: String?
        package var fields: FieldChanges
        /// The parent's record name; `.some(nil)` removes it.
        package var parent: String??
        package var desiredKeys: [String]?
        /// What is changed of a share; empty for a record that is none.
        package var share: ShareChanges
        /// Whether the answer is to name the URL under which the record can be shared (SHARE-6).
        package var createsShortGUID: Bool

        /// Creates an operation.
        package init(
            _ type: OperationType,
            recordName: String?,
            recordType: String? = nil,
            recordChangeTag: String? = nil,
            fields: FieldChanges = FieldChanges(),
            parent: String?? = nil,
            desiredKeys: [String]? = nil,
            share: ShareChanges = ShareChanges(),
            createsShortGUID: Bool = false
        ) {
            self.type = type
            self.recordName = recordName
            self.recordType = recordType
            self.recordChangeTag = recordChangeTag
            self.fields = fields
            self.parent = parent
            self.desiredKeys = desiredKeys
            self.share = share
            self.createsShortGUID = createsShortGUID
        }
    }

    /// The request.
    package struct Request: WireBody, Hashable {
        package var zoneID: ZoneID
        package var operations: [Operation]
        /// Nil means true where the zone supports it (SAVE-14).
        package var atomic: Bool?
        package var desiredKeys: [String]?
        package var numbersAsStrings: Bool
        /// Echoed with the zone's next token (TOK-24); an extension.
        package var clientChangeToken: [UInt8]?

        /// Creates a request.
        package init(
            zoneID: ZoneID,
            operations: [Operation],
            atomic: Bool? = nil,
            desiredKeys: [String]? = nil,
            numbersAsStrings: Bool = false,
            clientChangeToken: [UInt8]? = nil
        ) {
            self.zoneID = zoneID
            self.operations = operations
            self.atomic = atomic
            self.desiredKeys = desiredKeys
            self.numbersAsStrings = numbersAsStrings
            self.clientChangeToken = clientChangeToken
        }
    }

    /// The answer: one result for each operation, in order.
    package struct Response: WireBody, Hashable {
        package var records: [RecordResult]
        /// The newest token of the zone, for those who ask for it (web-services 1.3).
        package var syncToken: String?

        /// About how many bytes it takes.
        package var byteEstimate: Int { records.reduce(512) { $0 + $1.byteEstimate } }

        /// Creates an answer.
        package init(records: [RecordResult], syncToken: String? = nil) {
            self.records = records
            self.syncToken = syncToken
        }
    }
}
