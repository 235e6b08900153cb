// SPDX-License-Identifier: Apache-2.0

/// The rules names of records, types, fields and zones follow.
///
/// Empty names end the program where they are given, as on Apple's systems. The
/// other rules are enforced by the server; operations ask here first to fail
/// without a round trip.
enum RecordNaming {
    /// The longest name of a record, type, field or zone, in characters (REC-1, REC-3, ZONE-4).
    static let maximumLength = 255

    /// The names CloudKit itself gives, which break the rules for other names.
    static let systemZoneNames: Set<String> = [CKRecordZoneID.defaultZoneName]

    /// What is wrong with the name of a record to save; nil when nothing is (REC-1).
    static func violation(ofRecordName name: String) -> CKError? {
        if name.hasPrefix("_") {
            return .local(.invalidArguments, "The record name '\(name)' starts with an underscore.")
        }
        return violation(ofPlainName: name, of: "record name")
    }

    /// What is wrong with the name of a zone to save; nil when nothing is (ZONE-4).
    static func violation(ofZoneName name: String) -> CKError? {
        if systemZoneNames.contains(name) { return nil }
        if name.hasPrefix("_") {
            return .local(.invalidArguments, "The zone name '\(name)' starts with an underscore.")
        }
        return violation(ofPlainName: name, of: "zone name")
    }

    /// What is wrong with a record type; nil when nothing is (REC-2).
    static func violation(ofRecordType type: String) -> CKError? {
        if type == CKRecord.SystemType.share { return nil }
        return violation(ofIdentifier: type, of: "record type")
    }

    /// What is wrong with the name of a field; nil when nothing is (REC-3).
    static func violation(ofFieldKey key: String) -> CKError? {
        // NB: a reserved name is a matter of permission, not of form, in CloudKit.
        if key.hasPrefix("_") {
            return .local(
                .permissionFailure,
                "Unprivileged attempt to insert a system field: \(key)"
            )
        }
        if key.hasPrefix("cloudkit.") { return nil }
        return violation(ofIdentifier: key, of: "field name")
    }

    private static func violation(ofPlainName name: String, of thing: String) -> CKError? {
        guard !name.isEmpty, name.utf8.count <= maximumLength, name.utf8.allSatisfy({ $0 < 0x80 })
        else {
            return .local(
                .invalidArguments,
                "The \(thing) '\(name)' is not 1 to \(maximumLength) ASCII characters long."
            )
        }
        return nil
    }

    private static func violation(ofIdentifier name: String, of thing: String) -> CKError? {
        if let violation = violation(ofPlainName: name, of: thing) { return violation }
        let isLetter = { (character: Character) in character.isLetter }
        guard name.first.map(isLetter) == true,
            name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
        else {
            return .local(
                .invalidArguments,
                "The \(thing) '\(name)' is not a letter followed by letters, digits and underscores."
            )
        }
        return nil
    }
}
