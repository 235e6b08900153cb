// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Which references have consequences, in the records of one zone.
struct RecordReferences {
    private let zoneName: String
    /// The record name of the zone's owner; nil where the owner does not matter.
    private let owner: String?

    init(in zone: ZoneAccess) {
        zoneName = zone.zoneID.zoneName
        owner = zone.database.owner?.recordName
    }

    /// Those of records of a stored zone; a public one has no owner.
    init(in zone: ZoneID) {
        zoneName = zone.zoneName
        owner = zone.ownerRecordName
    }

    /// Fails where a reference with an action leaves the zone (REF-1); one without is a
    /// name that nothing follows.
    func check(_ changes: [String: Field?], ofRecord name: String) throws {
        for case (let key, let field?) in changes {
            for reference in field.value.references
            where reference.action != .none && !isInZone(reference) {
                throw WireError.badRequest(
                    "a reference with the action \(reference.action.rawValue) must be to a record "
                        + "of the same zone, '\(zoneName)', not of zone "
                        + "'\(WireError.shortened(reference.zoneID?.zoneName ?? ""))' (field '\(key)' of "
                        + "record '\(WireError.shortened(name))')"
                )
            }
        }
    }

    private func isInZone(_ reference: WireReference) -> Bool {
        guard let zoneID = reference.zoneID else { return true }
        return zoneID.zoneName == zoneName && zoneID.isOwned(by: owner)
    }

    /// Returns a record's references that matter when their target is deleted:
    /// those with `DELETE_SELF` or `VALIDATE`, and its parent.
    func consequential(
        from name: String, fields: [String: Field], parent: String?
    ) -> [StoredReference] {
        var references = Set<StoredReference>()
        for field in fields.values {
            for reference in field.value.references where isInZone(reference) {
                guard let kind = StoredReference.Kind(reference.action) else { continue }
                references.insert(
                    StoredReference(source: name, target: reference.recordName, kind: kind)
                )
            }
        }
        if let parent {
            references.insert(StoredReference(source: name, target: parent, kind: .parent))
        }
        return Array(references)
    }
}

extension ModifyRecords.Operation {
    /// The names of the records that the changes refer to with `VALIDATE` (REF-10).
    var validated: Set<String> {
        var names: Set<String> = []
        for case let field? in fields.values.values {
            for reference in field.value.references where reference.action == .validate {
                names.insert(reference.recordName)
            }
        }
        return names
    }
}

extension StoredReference.Kind {
    /// What a field's reference asks for; nil without an action.
    fileprivate init?(_ action: WireReference.Action) {
        switch action {
        case .none: return nil
        case .deleteSelf: self = .deleteSelf
        case .validate: self = .validate
        }
    }
}

extension FieldValue {
    /// The references in the value.
    var references: [WireReference] {
        switch self {
        case .reference(let reference): [reference]
        // A list whose tag named no type yet may be one of references.
        case .list(.referenceList, let elements), .list(nil, let elements):
            elements.flatMap(\.references)
        default: []
        }
    }
}

extension StoredRecord {
    /// Returns the rows of references that a store has beside this version, which lives and is
    /// intact, in a zone of that name and owner; no owner stands for the public database.
    package func references(in zone: ZoneID) throws -> [StoredReference] {
        guard mayHoldConsequentialReferences else { return [] }
        return RecordReferences(in: zone).consequential(
            from: name, fields: try fields.decoded(), parent: parent)
    }

    /// Whether the store may hold references that go out from this version.
    ///
    /// A search for the action's name in the text: a hit in some string costs a
    /// needless deletion of no rows, while records without references cost none.
    var mayHoldConsequentialReferences: Bool {
        parent != nil || isDamaged || Self.deleteSelf.isFound(in: fields.json)
            || Self.validate.isFound(in: fields.json)
    }

    private static let deleteSelf = BytePattern(WireReference.Action.deleteSelf.rawValue)
    private static let validate = BytePattern(WireReference.Action.validate.rawValue)
}
