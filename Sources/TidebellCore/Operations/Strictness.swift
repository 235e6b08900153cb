// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Whether what Apple refuses, and what would work here, is refused; raw values are those of the
/// command line.
package enum Strictness: String, Sendable, Hashable, CaseIterable {
    /// It works; the log and explanations say that it would not on Apple's servers.
    case lenient
    /// It is refused, in Apple's words where they are known.
    case apple
}

/// What Apple refuses and this server does not have to.
package enum AppleRules {
    /// A rule that something breaks.
    package struct Breach: Sendable, Hashable {
        /// The words of the error.
        package let words: String
        /// What to do instead, a clause.
        package let advice: String
        /// Where the rule is from: a statement, or a source.
        package let source: String

        /// The error in strict mode.
        var error: WireError { .badRequest("\(words); \(advice) (\(source))") }

        /// What the log and explanations say where it is let through.
        package var warning: String {
            "Apple's servers refuse it: \(words); \(advice) (\(source))"
        }
    }

    /// Returns the first rule that a subscription breaks.
    package static func breach(by subscription: WireSubscription) -> Breach? {
        if subscription.notificationInfo == nil {
            return Breach(
                words: "the subscription has no notificationInfo",
                advice: "set one, with shouldSendContentAvailable for a push that shows nothing",
                source: "SUB-68: Apple's header demands it before a save"
            )
        }
        let keys = subscription.notificationInfo?.desiredKeys ?? []
        if subscription.kind != .query, !keys.isEmpty {
            return Breach(
                words: "cannot add additionalFields to this subscription type",
                advice: "only query subscriptions have desiredKeys",
                source: "malhal.com, CKRecordZoneSubscription Notes"
            )
        }
        return nil
    }

    /// Returns the rule that a record breaks whose fields are of other types than the schema's, as the
    /// private records of others have them (``StoredField/fixedBy``).
    static func breach(
        by additions: [String: StoredField], to type: String, in schema: ContainerSchema
    ) -> Breach? {
        let known = schema.stored[type]?.fields ?? [:]
        let differing = additions.filter { name, field in
            known[name].map { !$0.holdsTheSame(as: field) } ?? false
        }
        guard let (name, field) = differing.min(by: { $0.key < $1.key }), let other = known[name]
        else { return nil }
        return Breach(
            words:
                "Invalid value, expected type \(SchemaText.typeText(of: other)). (field '\(name)' "
                + "of record type '\(type)', given as \(SchemaText.typeText(of: field)))",
            advice: "another user's private record has fixed it; a deployment can give production "
                + "one type only",
            source: "ENV-1"
        )
    }

    /// Returns the rule that a query breaks: one that every record passes needs an index that no
    /// record type has by itself.
    ///
    /// A type whose schema states the indexes of such fields has been looked at already.
    ///
    /// - Parameter indexed: The record types whose `recordName` is queryable.
    package static func breach(
        by query: WireQuery, of type: RecordType, indexed: Set<String>
    ) -> Breach? {
        guard query.filters.isEmpty, !indexed.contains(query.recordType),
            type.stored?.systemIndexes == nil
        else { return nil }
        return Breach(
            words: "Field 'recordName' is not marked queryable",
            advice:
                "in CloudKit's console, '\(query.recordType)' needs an index on recordName for a "
                + "query without conditions",
            source: "QUERY-14"
        )
    }
}

extension Call {
    /// Fails, or reports, where something is let through that Apple refuses.
    ///
    /// - Parameter subject: What it is about, once for each of which it is reported.
    func hold(_ breach: AppleRules.Breach?, of subject: String) throws {
        guard let breach else { return }
        switch limits.strictness {
        case .apple: throw breach.error
        case .lenient: reportLeniency(subject, breach.warning)
        }
    }
}
