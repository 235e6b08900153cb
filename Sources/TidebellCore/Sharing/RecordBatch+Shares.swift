// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

extension RecordBatch {
    /// Decides an operation on the record of a share.
    mutating func planShare(
        _ operation: ModifyRecords.Operation, named name: String, over previous: StoredRecord?
    ) throws -> Outcome {
        try checkMayShare(name)
        let known = sharing.byName[name]
        if operation.type.deletes {
            guard let previous, let known else { return .nothingToDelete }
            guard let rights = access.sharedRights else { return .delete(previous) }
            return .leave(try leaving(known, previous, rights))
        }
        guard previous?.type ?? ShareNames.recordType == ShareNames.recordType,
            operation.recordType ?? ShareNames.recordType == ShareNames.recordType
        else {
            throw WireError.badRequest(
                "record '\(WireError.shortened(name))': a share stays one, and nothing else becomes "
                    + "one"
            )
        }
        guard
            !(operation.type == .forceUpdate || operation.type == .forceReplace) || previous == nil
        else {
            // SAVE-5
            throw WireError.badRequest(
                "share '\(WireError.shortened(name))' is saved with its recordChangeTag only, so "
                    + "that no participant is lost"
            )
        }
        guard (operation.parent ?? nil) == nil else {
            throw WireError.badRequest(
                "share '\(WireError.shortened(name))' cannot have a parent; forRecord names its root"
            )
        }
        if let known, let root = operation.share.root?.recordName, root != known.root {
            throw WireError.badRequest(
                "share '\(WireError.shortened(name))' keeps the root that it was made with: leave "
                    + "out 'forRecord', or delete the share and make another one"
            )
        }
        let share = try known ?? newShare(operation, named: name)
        if let rights = access.sharedRights {
            guard known != nil, rights.grant(of: name)?.isAdministrator == true else {
                // SHARE-9
                throw WireError(
                    .accessDenied,
                    "WRITE operation not permitted: share '\(WireError.shortened(name))' is "
                        + "changed by its owner and administrators only"
                )
            }
        }
        var saved = try savedRecord(for: operation, named: name, over: previous)
        saved.share = try changed(share, by: operation.share)
        return .save(saved)
    }

    private mutating func changed(
        _ share: StoredShare, by changes: ShareChanges
    ) throws -> StoredShare {
        // Operations have the UUIDs before.
        var next = request.operations.count + madeParticipants
        defer { madeParticipants = next - request.operations.count }
        let (call, sharing, zone) = (call, sharing, zone.key)
        let makeID = {
            next += 1
            return call.uuids[next - 1]
        }
        return try ShareParticipants(
            user: { sharing.user($0) }, makeID: { makeID().uuidString },
            makeOneTimeKey: { call.oneTimeKey(of: makeID(), in: zone) },
            owner: access.database.owner ?? user, now: call.now, limits: call.limits
        ).changed(share, by: changes)
    }

    /// Fails where nothing can be shared (SHARE-1).
    private func checkMayShare(_ name: String) throws {
        guard access.database.scope.createsZones, !access.zoneID.isDefault else {
            throw WireError.badRequest(
                "share '\(WireError.shortened(name))' cannot be saved in zone "
                    + "'\(WireError.shortened(access.zoneID.zoneName))' of the "
                    + "\(call.scope) database: only custom zones can be shared, or records in them"
            )
        }
    }

    /// A share that an operation makes: of a record with all below it, or of the zone.
    private func newShare(
        _ operation: ModifyRecords.Operation, named name: String
    ) throws -> StoredShare {
        let shown = WireError.shortened(name)
        try Names.checkRecordName(name, limits: call.limits)
        if let root = operation.share.root?.recordName {
            guard root != name else {
                throw WireError.badRequest(
                    "share '\(shown)' cannot be the root of itself",
                    ckCode: CKErrorCode.invalidArguments
                )
            }
            guard name != ShareNames.zoneWideShare else {
                throw WireError.badRequest(
                    "share '\(shown)' is of its zone, and cannot be 'forRecord' too")
            }
            guard zone.sharing != .zoneWide else {
                // SHARE-5
                throw WireError.badRequest(
                    "record '\(WireError.shortened(root))' is in zone "
                        + "'\(WireError.shortened(zone.name))', which is shared as a whole",
                    ckCode: CKErrorCode.serverRejectedRequest
                )
            }
            return StoredShare(
                name: name, root: root, shortGUID: call.shortGUID(ofRoot: root, in: zone.key))
        }
        guard name == ShareNames.zoneWideShare else {
            throw WireError.badRequest(
                "share '\(shown)' needs 'forRecord', the record that it shares; the share of a zone "
                    + "is named '\(ShareNames.zoneWideShare)'"
            )
        }
        guard zone.sharing != .hierarchies else {
            // SHARE-5
            throw WireError.badRequest(
                "zone '\(WireError.shortened(zone.name))' cannot be shared as a whole while records "
                    + "in it are shared",
                ckCode: CKErrorCode.invalidArguments
            )
        }
        return StoredShare(
            name: name, root: nil, shortGUID: call.shortGUID(ofRoot: nil, in: zone.key))
    }

    /// A participant who deletes the share leaves it (SHARE-14).
    private func leaving(
        _ share: StoredShare, _ record: StoredRecord, _ rights: SharedRights
    ) throws -> SavedRecord {
        guard rights.grant(of: share.name) != nil else { throw WireError.notShared(record.name) }
        var left = share
        left.participants.removeAll { $0.user == user.id }
        var saved = SavedRecord(
            record: record, previous: record, references: [], newlyValidated: [],
            assets: try record.files(), newFields: [:]
        )
        saved.record.modified = stamp
        saved.share = left
        return saved
    }
}

/// The fields that records of shares have, which no schema lists (SHARE-24).
enum ShareFields {
    /// Returns the changes of a share's fields; fails where one has a name or a type that it
    /// cannot have.
    static func conform(
        _ changes: FieldChanges, ofShare name: String, limits: Limits
    ) throws -> [String: Field?] {
        for (field, value) in changes.values {
            guard let expected = types[field] else {
                try Names.checkFieldName(field, limits: limits)
                // A share ends when its owner deletes it, not with another record.
                guard value?.value.references.allSatisfy({ $0.action == .none }) ?? true else {
                    throw WireError.badRequest(
                        "field '\(field)' of share '\(WireError.shortened(name))' can hold "
                            + "references with the action NONE only"
                    )
                }
                continue
            }
            guard let value else { continue }
            guard value.value.type == expected else {
                throw WireError.badRequest(
                    "Invalid value, expected type \(expected.rawValue). (field '\(field)' of share "
                        + "'\(WireError.shortened(name))')"
                )
            }
        }
        return changes.values
    }

    private static let types: [String: FieldType] = [
        ShareNames.title: .string, ShareNames.thumbnail: .bytes, ShareNames.shareType: .string,
    ]
}
