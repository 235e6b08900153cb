// SPDX-License-Identifier: Apache-2.0
import TidebellWire
import Foundation

/// The operations of one request on their way from wish to fact.
struct RecordBatch {
    /// What becomes of an operation.
    enum Outcome {
        case save(SavedRecord)
        case delete(StoredRecord)
        /// A participant who deletes a share leaves it, which changes it (SHARE-14).
        case leave(SavedRecord)
        /// A forced deletion of what is not there: success without effect
        /// (SAVE-23).
        case nothingToDelete
        case failed(WireError)

        /// What is to be written; nil where nothing is, or something goes.
        var saved: SavedRecord? {
            switch self {
            case .save(let saved), .leave(let saved): saved
            case .delete, .nothingToDelete, .failed: nil
            }
        }
    }

    /// A record to be written, its position still open.
    struct SavedRecord {
        var record: StoredRecord
        /// The version before; nil for a new record.
        var previous: StoredRecord?
        /// The references of the record that have consequences.
        var references: [StoredReference]
        /// What the changes refer to with `VALIDATE`.
        var newlyValidated: Set<String>
        /// The files the record holds.
        var assets: Set<AssetContent>
        /// The fields that its type does not have yet.
        var newFields: [String: StoredField]
        /// What the share is from now on, of which it is the record.
        var share: StoredShare?
    }

    let request: ModifyRecords.Request
    let call: Call
    let user: StoredUser
    private(set) var access: ZoneAccess
    /// The zone as stored.
    private(set) var zone: StoredZone { didSet { access.stored?.zone = zone } }
    /// The key of the zone's encrypted fields, where the first of them is in this batch.
    private(set) var madeKey: WrappedKey?
    /// Whether somebody is notified of what was in deleted records: only query subscriptions look
    /// into records.
    let needsFields: Bool
    /// What the records state about the device that writes them.
    let deviceID: String
    /// The record name of each operation, given or made.
    let names: [String]
    /// The living records with these names that the caller may see.
    let existing: [String: StoredRecord]
    /// The names among these of living records that the caller may not see.
    let hidden: Set<String>
    /// The names of the living records that the operations name, as their own, as parent
    /// or with `VALIDATE`.
    let living: Set<String>
    /// Whether the operations name any that must live.
    private let demandsOthers: Bool
    var schema: ContainerSchema
    /// What the types of records grant; nil outside of the public database.
    let granted: PublicRights?
    /// The files the operations name.
    let assets: RecordAssets
    /// Which references of the zone's records have consequences.
    let references: RecordReferences
    /// The shares of the zone that the batch is about.
    var sharing: BatchSharing
    /// What it does to their hierarchies.
    var hierarchies = HierarchyChanges()
    /// How many UUIDs were taken for participants.
    var madeParticipants = 0
    /// One for each operation, once planned.
    var outcomes: [Outcome] = []
    /// Records that go because what they refer to goes (REF-2).
    var cascaded: [StoredRecord] = []

    init(
        _ request: ModifyRecords.Request, by user: StoredUser, for call: Call,
        to access: ZoneAccess, _ stored: ZoneAccess.Stored,
        in reader: some RecordReading & UserReading & AddressReading & AssetReading
            & SchemaReading & ShareReading & SharedRecordReading
    ) throws {
        self.request = request
        self.user = user
        self.call = call
        self.access = access
        zone = stored.zone
        references = RecordReferences(in: access)
        names = request.names(for: call)
        needsFields = stored.database.subscriptionKinds.contains(.query)
        deviceID = call.makeDeviceID()
        let wanted = Set(names)
        let demanded = try request.demanded(for: call)
        demandsOthers = !demanded.isEmpty
        let sharing = try BatchSharing(
            request, names: wanted, demanded: demanded, in: zone, access, for: call, reader)
        self.sharing = sharing
        let hierarchies = access.hierarchies
        let isSeen = { (name: String) in
            hierarchies.map { seen in sharing.holders[name].map(seen.contains) ?? false } ?? true
        }
        let found = try reader.records(wanted, in: zone.key, for: call)
        hidden = Set(found.keys.filter { !isSeen($0) })
        existing = found.filter { isSeen($0.key) }.merging(
            try call.userRecords(wanted.subtracting(found.keys), in: access, reader)
        ) { found, _ in found }
        living = try demanded.subtracting(wanted).living(
            in: zone.key, access, for: call, reader
        ).filter(isSeen).union(existing.keys)
        assets = try RecordAssets(of: request.operations, for: call, in: access, reader)
        let types = request.operations.compactMap(\.recordType) + existing.values.map(\.type)
        let schema = try reader.growingSchema(
            of: Set(types), inDatabaseOf: stored.database.key.owner, for: call)
        self.schema = schema
        granted =
            access.rights == .byGrants
            ? try PublicRights(of: user, among: types.map(schema.grants(of:)), in: reader) : nil
    }

    /// Whether an operation failed.
    var hasFailures: Bool {
        outcomes.contains { if case .failed = $0 { true } else { false } }
    }

    /// Decides every operation on its own: names, access, save policy, schema.
    mutating func plan() throws {
        for (operation, name) in zip(request.operations, names) {
            do {
                outcomes.append(try plan(operation, named: name))
            } catch let error as WireError {
                outcomes.append(.failed(error.visible(to: call)))
            }
        }
    }

    private mutating func plan(
        _ operation: ModifyRecords.Operation, named name: String
    ) throws -> Outcome {
        if hidden.contains(name), !operation.type.needsChangeTag {
            guard operation.type == .forceDelete else { throw WireError.notShared(name) }
            return .nothingToDelete
        }
        let existing = existing[name]
        try SavePolicy.check(
            operation, against: existing, limits: call.limits,
            serverRecord: {
                try mayRead($0)
                    ? $0.answered(to: call, in: access, selecting: .all, shares) : nil
            }
        )
        if operation.recordType == ShareNames.recordType
            || existing?.type == ShareNames.recordType
        {
            return try planShare(operation, named: name, over: existing)
        }
        if let existing {
            try access.rights.checkWriting(over: existing, in: sharing.holders[name])
            try granted?.checkWriting(over: existing, by: schema.grants(of: existing.type))
        }
        if operation.type.deletes {
            guard existing?.type != Names.userRecordType else {
                throw WireError(.accessDenied, "the record of a user cannot be deleted")
            }
            try checkDeletingRoot(name)
            return existing.map { .delete($0) } ?? .nothingToDelete
        }
        if existing == nil {
            try Names.checkRecordName(name, limits: call.limits)
            if let granted, let type = operation.recordType {
                try granted.checkCreating(type, by: schema.grants(of: type))
            }
        }
        return .save(try savedRecord(for: operation, named: name, over: existing))
    }

    /// Whether the caller may know what is in a record: in the public database, by what its type
    /// grants (ACCT-7).
    func mayRead(_ record: StoredRecord) -> Bool {
        granted?.mayRead(record, by: schema.grants(of: record.type)) ?? true
    }

    mutating func savedRecord(
        for operation: ModifyRecords.Operation, named name: String, over previous: StoredRecord?
    ) throws -> SavedRecord {
        guard let type = operation.recordType ?? previous?.type else {
            throw WireError.badRequest(
                "missing required field 'recordType' for new record '\(name)'")
        }
        // Of a damaged record the type may be what is damaged.
        guard previous.map({ $0.type == type || $0.isDamaged }) ?? true else {
            throw WireError.badRequest(
                "record '\(name)' is of type '\(previous?.type ?? "")'; a record's type cannot change"
            )
        }
        let isShare = type == ShareNames.recordType
        if previous?.type != type, !isShare {
            try Names.checkRecordType(type, limits: call.limits)
        }
        // ENV-1: also of shares, of which no schema lists the fields.
        if isShare, previous == nil { try schema.checkGrowth(by: type, call.limits) }
        let conformed =
            isShare
            ? ContainerSchema.Conformed(
                changes: try ShareFields.conform(
                    operation.fields, ofShare: name, limits: call.limits))
            : try schema.conform(
                operation.fields, of: type, in: access.database.scope, limits: call.limits
            )
        try call.hold(
            AppleRules.breach(by: conformed.additions, to: type, in: schema),
            of: "a record of type '\(WireError.shortened(type))'")
        try references.check(conformed.changes, ofRecord: name)
        if let previous, previous.isDamaged, !operation.type.replaces {
            throw call.damage(of: previous, in: zone.name)
        }
        let changes = try assets.settle(conformed.changes, ofRecord: name, over: previous)
        let merged = try SavePolicy.merge(
            changes, over: operation.type.replaces ? nil : try opened(previous)
        )
        let fields = try sealed(merged, encoded(merged, ofRecord: name), ofRecord: name)
        // A participant does not see what is above a root, so that saying nothing leaves it there.
        let seesNoParent = access.hierarchies != nil && sharing.byRoot[name] != nil
        if seesNoParent, let wanted = operation.parent ?? nil, !living.contains(wanted),
            !names.contains(wanted)
        {
            // Nor finds out by naming it.
            throw WireError.missing(
                StoredReference(source: name, target: wanted, kind: .parent))
        }
        let parent =
            seesNoParent && operation.parent == .some(nil)
            ? previous?.parent : operation.parent ?? previous?.parent
        let stamp = stamp
        schema.add(conformed.additions, to: type)
        let files = merged.values.flatMap(\.value.assets)
        var record = StoredRecord(
            name: name, type: type, position: .start, created: previous?.created ?? stamp,
            modified: stamp, parent: parent, fields: fields
        )
        record.size = record.measuredSize(withFiles: files.distinctBytes)
        return SavedRecord(
            record: record,
            previous: previous,
            references: references.consequential(from: name, fields: merged, parent: parent),
            newlyValidated: demandsOthers ? operation.validated : [],
            assets: files.contents,
            newFields: conformed.additions
        )
    }

    /// When the batch changes records, by whom, on which device.
    var stamp: RecordStamp {
        RecordStamp(
            timestamp: call.now.rawValue, userRecordName: user.recordName, deviceID: deviceID
        )
    }

    /// The shares that the batch knows for answers, as they are before it.
    private var shares: ShareAnswers {
        ShareAnswers(sharing.byName.values, for: call, in: access)
    }

    private func opened(_ record: StoredRecord?) throws -> StoredRecord? {
        guard var record, record.fields.isSealed else { return record }
        record.fields = try call.opened(record.fields, ofRecord: record.name, in: zone)
        return record
    }

    /// Returns a record's fields with the values encrypted that are to be; without any,
    /// the fields as they were encoded.
    private mutating func sealed(
        _ fields: [String: Field], _ encoded: RecordFields, ofRecord name: String
    ) throws -> RecordFields {
        guard fields.values.contains(where: \.isEncrypted), let key = try fieldKey() else {
            return encoded
        }
        let zone = zone
        return try call.reportingKey(of: zone) {
            try RecordFields(sealing: fields) {
                try call.fieldCipher.seal($0, ofRecord: name, in: zone.key, under: key)
            }
        }
    }

    /// The key of the zone's encrypted fields, made now if it has none; nil where the
    /// server encrypts nothing.
    private mutating func fieldKey() throws -> WrappedKey? {
        switch zone.fieldKey {
        case .wrapped(let key): return key
        case .lost: throw WireError.lostKey(of: zone)
        case .none:
            guard let key = try call.fieldCipher.makeKey(of: zone.key) else { return nil }
            madeKey = key
            zone.fieldKey = .wrapped(key)
            return key
        }
    }

    /// Returns a record's fields as answers carry them, if they are not too many or too
    /// long (LIMIT-4, LIMIT-12).
    private func encoded(_ fields: [String: Field], ofRecord name: String) throws -> RecordFields {
        guard fields.count <= FieldChanges.maximumCount else {
            throw WireError.badRequest(
                "record too large: record '\(name)' would have \(fields.count) fields of at most "
                    + "\(FieldChanges.maximumCount); remove some, or spread them over records",
                ckCode: CKErrorCode.limitExceeded
            )
        }
        let encoded = RecordFields(fields)
        guard encoded.json.count <= call.limits.recordBytes else {
            throw WireError.badRequest(
                "record too large: record '\(name)' takes \(encoded.json.count) bytes of at most "
                    + "\(call.limits.recordBytes); keep large data in assets",
                ckCode: CKErrorCode.limitExceeded
            )
        }
        return encoded
    }
}

extension ModifyRecords.Request {
    /// The names of the records that must be there for others; fails with `limitExceeded`
    /// when they are more than one request may demand.
    func demanded(for call: Call) throws -> Set<String> {
        var names: Set<String> = []
        for operation in operations {
            if let parent = operation.parent ?? nil { names.insert(parent) }
            names.formUnion(operation.validated)
        }
        guard names.count <= call.limits.demandedRecords else {
            throw WireError.badRequest(
                "the records of the request refer to \(names.count) others as parents or with "
                    + "VALIDATE, of at most \(call.limits.demandedRecords) (demandedRecords); save "
                    + "fewer at a time",
                ckCode: CKErrorCode.limitExceeded
            ).naming(.demandedRecords)
        }
        return names
    }
}

extension Set<String> {
    /// Returns those of the names that living records of the zone have.
    fileprivate func living(
        in zone: ZoneKey, _ access: ZoneAccess, for call: Call,
        _ reader: some RecordReading & UserReading
    ) throws -> Set<String> {
        let stored = Set(try reader.recordsWithoutFields(self, in: zone).keys)
        return stored.union(try call.userRecords(subtracting(stored), in: access, reader).keys)
    }
}
