// SPDX-License-Identifier: Apache-2.0
import TidebellWire

// What a server reports is in the words of the wire, and in those of Apple's server, which people search for: they come
// first. What they leave out, the SDK knows: which item it was, what the API calls it, what to do.
extension CKError {
    /// What a request was about.
    enum Subject: Sendable {
        case record(CKRecord.ID)
        case zone(CKRecordZone.ID)
        case subscription(CKSubscription.ID)

        fileprivate var name: String {
            switch self {
            case .record(let id): id.recordName
            case .zone(let id): id.zoneName
            case .subscription(let id): id
            }
        }

        /// As it stands in a sentence.
        fileprivate var text: String {
            switch self {
            case .record(let id): "record '\(id.recordName)' of \(Self.text(of: id.zoneID))"
            case .zone(let id): Self.text(of: id)
            case .subscription(let id): "subscription '\(id)'"
            }
        }

        private static func text(of zoneID: CKRecordZone.ID) -> String {
            let owner =
                zoneID.ownerName == CKCurrentUserDefaultName ? "" : " of \(zoneID.ownerName)"
            return "zone '\(zoneID.zoneName)'\(owner)"
        }

        fileprivate var zoneID: CKRecordZone.ID? {
            switch self {
            case .record(let id): id.zoneID
            case .zone(let id): id
            case .subscription: nil
            }
        }
    }

    /// Returns a reason of the server as an app's developer needs it: in the API's words, with the item and a clause
    /// of what to do.
    static func explained(_ reason: String, of subject: Subject?) -> String {
        let text = inWordsOfTheAPI(reason)
        // Reasons that are not Apple's name the item where it matters.
        guard let advice = advice(for: reason, of: subject) else { return text }
        guard let subject, !text.contains("'\(subject.name)'") else { return "\(text); \(advice)" }
        return "\(text) (\(subject.text)); \(advice)"
    }

    /// What to do about errors whose words are Apple's, by how these begin.
    private static let advice = [
        ("Record not found", "it was deleted, or never saved"),
        (
            "record to insert already exists",
            "merge into the error's serverRecord and save that, or save with .changedKeys"
        ),
        (
            "client oplock error updating record",
            "merge into the error's serverRecord and save that"
        ),
        (
            "cannot get changes in default zone",
            "save records whose changes are fetched in a CKRecordZone"
        ),
        (
            "a zone subscription cannot watch the default zone",
            "save the records in a CKRecordZone, or use a CKQuerySubscription"
        ),
        (
            "a zone subscription cannot be saved in the public database",
            "use a CKQuerySubscription"
        ),
        (
            "a database subscription cannot be saved in the public database",
            "use a CKQuerySubscription"
        ),
        ("subscription is duplicate of", "use that one, or delete it first"),
        (
            WireProtocol.needsAuthorization, DeviceError.adviceOnEndedSession
        ),
    ]

    private static func advice(for reason: String, of subject: Subject?) -> String? {
        if let known = advice.first(where: { reason.hasPrefix($0.0) }) { return known.1 }
        if reason.hasPrefix("Zone '"), reason.hasSuffix("' does not exist") {
            guard let zoneID = subject?.zoneID, zoneID.ownerName != CKCurrentUserDefaultName else {
                return "save a CKRecordZone first"
            }
            return "its owner is '\(zoneID.ownerName)', who may have ended the share"
        }
        if reason.hasPrefix("Invalid value, expected type"), reason.contains("(field '") {
            return "a field keeps the type of the first value saved in it: use another name"
        }
        if reason.hasPrefix("subscription '"), reason.hasSuffix("' does not exist") {
            return "it was deleted, or never saved"
        }
        if reason.hasSuffix("a STRING field is no list") {
            return
                "search it for words by self CONTAINS 'word', or compare how it begins by BEGINSWITH"
        }
        return nil
    }

    /// Returns a reason without what only those know who write requests by hand.
    private static func inWordsOfTheAPI(_ reason: String) -> String {
        var text = reason.replacing("additionalFields", with: "desiredKeys")
        let exception = "BadRequestException: "
        if text.hasPrefix(exception) { text.removeFirst(exception.count) }
        return text.replacing(#/filterBy\[[0-9]+\], ([A-Z_]+) on '/#) { match in
            let comparator = WireFilter.Comparator(rawValue: String(match.1))
            return "the predicate's \(comparator?.formatOperator ?? String(match.1)) on '"
        }
        .replacing("is compared with LIST_CONTAINS_ANY", with: "is compared with ANY … IN")
        .replacing("is compared with LIST_CONTAINS", with: "is compared with CONTAINS")
    }
}

extension WireFilter.Comparator {
    /// What a predicate format writes for it.
    fileprivate var formatOperator: String {
        switch self {
        case .equals: "=="
        case .notEquals: "!="
        case .lessThan: "<"
        case .lessThanOrEquals: "<="
        case .greaterThan: ">"
        case .greaterThanOrEquals: ">="
        case .near: "distanceToLocation:fromLocation:"
        case .containsAllTokens, .containsAnyTokens: "search for words"
        case .in: "IN"
        case .notIn: "NOT … IN"
        case .listContains, .listContainsAll: "CONTAINS"
        case .notListContains, .notListContainsAll: "NOT … CONTAINS"
        case .listContainsAny: "ANY … IN"
        case .notListContainsAny: "NOT ANY … IN"
        case .beginsWith: "BEGINSWITH"
        case .notBeginsWith: "NOT … BEGINSWITH"
        case .listMemberBeginsWith: "ANY … BEGINSWITH"
        case .notListMemberBeginsWith: "NOT ANY … BEGINSWITH"
        }
    }
}
