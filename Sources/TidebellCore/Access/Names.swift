// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// The rules for names, each with the sentence that refuses a bad one.
enum Names {
    /// The type of the records that users have (ACCT-5).
    static let userRecordType = "Users"

    /// Checks a record name that a client chose (REC-1).
    static func checkRecordName(_ name: String, limits: Limits) throws {
        try check(name, what: "record name", limits: limits)
        guard !name.hasPrefix("_") else {
            throw WireError.badRequest("record name '\(name)' must not start with an underscore")
        }
    }

    /// Checks a zone name that a client chose (ZONE-4).
    static func checkZoneName(_ name: String, limits: Limits) throws {
        try check(name, what: "zone name", limits: limits)
        guard !name.hasPrefix("_") else {
            throw WireError.badRequest("zone name '\(name)' must not start with an underscore")
        }
    }

    /// Checks a subscription ID (SUB-28).
    ///
    /// Its length counts in Unicode scalars: a grapheme has no greatest size, and
    /// every push carries the whole ID (PRUNE-6).
    static func checkSubscriptionID(_ id: String, limits: Limits) throws {
        guard !id.isEmpty else { throw WireError.badRequest("the subscriptionID is empty") }
        guard id.unicodeScalars.count <= limits.nameLength else {
            throw WireError.badRequest(
                "subscriptionID '\(WireError.shortened(id))' is longer than \(limits.nameLength) characters"
            )
        }
    }

    /// Checks a record type (REC-2); the system's own cannot be saved by apps.
    static func checkRecordType(_ type: String, limits: Limits) throws {
        guard Identifier.isField(type), type.utf8.count <= limits.nameLength else {
            throw WireError.badRequest(
                "record type '\(WireError.shortened(type))' must be a letter followed by letters, digits "
                    + "and underscores, at most \(limits.nameLength) characters"
            )
        }
        guard type != userRecordType else {
            throw WireError(.accessDenied, "records of the system type 'Users' cannot be created")
        }
    }

    /// Checks a field name (REC-3).
    static func checkFieldName(_ name: String, limits: Limits) throws {
        guard !name.hasPrefix("_") else {
            throw WireError(
                .accessDenied,
                "Unprivileged attempt to insert a system field: \(WireError.shortened(name))"
            )
        }
        guard Identifier.isField(name), name.utf8.count <= limits.nameLength else {
            throw WireError.badRequest(
                "field name '\(WireError.shortened(name))' must be a letter followed by letters, digits "
                    + "and underscores, at most \(limits.nameLength) characters"
            )
        }
    }

    /// Whether a field of an app's may have this name (REC-3).
    static func isFieldName(_ name: String, limits: Limits) -> Bool {
        Identifier.isField(name) && name.utf8.count <= limits.nameLength
    }

    private static func check(_ name: String, what: String, limits: Limits) throws {
        guard !name.isEmpty else { throw WireError.badRequest("the \(what) is empty") }
        guard name.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
            throw WireError.badRequest(
                "\(what) '\(WireError.shortened(name))' must be printable ASCII")
        }
        guard name.utf8.count <= limits.nameLength else {
            throw WireError.badRequest(
                "\(what) '\(WireError.shortened(name))' is longer than \(limits.nameLength) characters"
            )
        }
    }
}
