// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// One thing in which a schema differs from another that takes its place.
package enum SchemaChange: Sendable, Hashable {
    case addRole(String)
    case removeRole(String)
    case addType(String)
    case removeType(String)
    case addField(String, of: String, StoredField)
    case removeField(String, of: String, StoredField)
    /// Another type of values, or encrypted and not before.
    case changeField(String, of: String, from: StoredField, to: StoredField)
    case addIndexes(String, of: String, FieldIndexes)
    case dropIndexes(String, of: String, FieldIndexes)
    case changeRights(String, of: String, from: RecordRights, to: RecordRights)

    /// Returns what changes where a schema takes the place of another: types in the order of their
    /// names, of each what is gone, new and other.
    package static func changes(
        from old: SchemaDefinition, to new: SchemaDefinition
    ) -> [SchemaChange] {
        var changes = old.roles.subtracting(new.roles).sorted().map(SchemaChange.removeRole)
        changes += new.roles.subtracting(old.roles).sorted().map(SchemaChange.addRole)
        for name in Set(old.types.keys).union(new.types.keys).sorted() {
            switch (old.types[name], new.types[name]) {
            case (nil, let type?):
                changes.append(.addType(name))
                changes += typeChanges(from: StoredRecordType(systemIndexes: [:]), to: type, name)
            case (_?, nil): changes.append(.removeType(name))
            case (let before?, let after?):
                changes += typeChanges(from: before, to: after, name)
            case (nil, nil): continue
            }
        }
        return changes
    }

    private static func typeChanges(
        from old: StoredRecordType, to new: StoredRecordType, _ type: String
    ) -> [SchemaChange] {
        var changes: [SchemaChange] = []
        for field in SchemaSystemField.allCases {
            changes += indexChanges(
                from: old.indexes(of: field), to: new.indexes(of: field), field.rawValue, type)
        }
        for name in Set(old.fields.keys).union(new.fields.keys).sorted() {
            switch (old.fields[name], new.fields[name]) {
            case (nil, let field?): changes.append(.addField(name, of: type, field))
            case (let field?, nil): changes.append(.removeField(name, of: type, field))
            case (let before?, let after?):
                guard before.holdsTheSame(as: after) else {
                    changes.append(.changeField(name, of: type, from: before, to: after))
                    continue
                }
                changes += indexChanges(from: before.indexes, to: after.indexes, name, type)
            case (nil, nil): continue
            }
        }
        for role in Set(old.grants.rights.keys).union(new.grants.rights.keys).sorted()
        where old.grants[role] != new.grants[role] {
            changes.append(
                .changeRights(role, of: type, from: old.grants[role], to: new.grants[role]))
        }
        return changes
    }

    private static func indexChanges(
        from old: FieldIndexes, to new: FieldIndexes, _ field: String, _ type: String
    ) -> [SchemaChange] {
        let (dropped, added) = (old.subtracting(new), new.subtracting(old))
        return (dropped.isEmpty ? [] : [.dropIndexes(field, of: type, dropped)])
            + (added.isEmpty ? [] : [.addIndexes(field, of: type, added)])
    }

    /// Whether records could have values for which there would be no room any more.
    package var losesData: Bool {
        switch self {
        case .removeType, .removeField, .changeField: true
        default: false
        }
    }

    /// The change as a line: `+` for what comes, `-` for what goes, `!` for what becomes something
    /// else.
    package var line: String {
        switch self {
        case .addRole(let role): return "+ ROLE \(role)"
        case .removeRole(let role): return "- ROLE \(role)"
        case .addType(let type): return "+ RECORD TYPE \(type)"
        case .removeType(let type): return "- RECORD TYPE \(type)"
        case .addField(let name, let type, let field):
            return "+ \(type).\(SchemaText.item(name, field))"
        case .removeField(let name, let type, let field):
            return "- \(type).\(SchemaText.item(name, field))"
        case .changeField(let name, let type, let old, let new):
            return "! \(type).\(name) from \(SchemaText.typeText(of: old)) to "
                + SchemaText.typeText(of: new)
        case .addIndexes(let name, let type, let indexes):
            return "+ \(type).\(name) \(indexes.text)"
        case .dropIndexes(let name, let type, let indexes):
            return "- \(type).\(name) \(indexes.text)"
        case .changeRights(let role, let type, let old, let new):
            let (dropped, added) = (old.subtracting(new), new.subtracting(old))
            return [("-", dropped), ("+", added)].filter { !$0.1.isEmpty }
                .map { "\($0.0) \(type) GRANT \($0.1.text) TO \(role)" }.joined(separator: ", ")
        }
    }
}

extension StoredField {
    /// Whether values of one can stand in the other.
    func holdsTheSame(as other: StoredField) -> Bool {
        type == other.type && isEncrypted == other.isEncrypted
    }
}

/// What a deployment of development's schema to production does (ENV-2), and why it may not be done.
package struct SchemaDeploymentPlan: Sendable, Hashable {
    /// What production gets, and loses of indexes and rights.
    package let changes: [SchemaChange]
    /// What cannot be: values that production's records have would have no place any more.
    package let refused: [SchemaChange]
    /// What only production has, and keeps (ENV-3).
    package let kept: [SchemaChange]
    /// Production's schema after it, where nothing is refused.
    package let result: SchemaDefinition
    /// Subscriptions of production that fire no more afterwards, and why, a sentence each (SUB-26).
    package var silenced: [String] = []
    /// Subscriptions of development that production would still refuse, likewise (SUB-42).
    package var unserved: [String] = []

    /// Fields that have other types in private records of development, likewise.
    package var differing: [String] = []

    /// What the operator is warned of, a sentence each.
    package var warnings: [String] {
        SubscriptionUses.warnings(silenced: silenced)
            + unserved.map { "would not fire in production: \($0)" }
            + differing.map { "could not be saved in production: \($0)" }
    }

    /// Compares the two.
    package init(from development: SchemaDefinition, to production: SchemaDefinition) {
        let wanted = SchemaChange.changes(from: production, to: development)
        refused = wanted.filter { if case .changeField = $0 { true } else { false } }
        kept = wanted.filter {
            switch $0 {
            case .removeType, .removeField, .removeRole: true
            default: false
            }
        }
        var result = development
        result.roles.formUnion(production.roles)
        for (name, type) in production.types {
            result.types[name, default: type].fields.merge(type.fields) { own, _ in own }
        }
        self.result = result
        changes = SchemaChange.changes(from: production, to: result).filter { !$0.losesData }
    }
}
