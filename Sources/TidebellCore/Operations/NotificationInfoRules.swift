// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What a subscription may ask its pushes to carry.
enum NotificationInfoRules {
    /// The most desired keys (NINFO-16).
    static let desiredKeyLimit = 3

    /// Checks what needs no look at the store.
    static func check(_ subscription: WireSubscription, limits: Limits) throws {
        guard let info = subscription.notificationInfo else { return }
        if info.collapseIDKey != nil, subscription.kind != .query {
            // The sentence is Apple's (web-services 3.3).
            throw WireError.badRequest("cannot add collapseId to this subscription type")
        }
        if let keys = info.desiredKeys, keys.count > desiredKeyLimit {
            throw WireError.badRequest(
                "additionalFields names \(keys.count) fields; at most \(desiredKeyLimit) fit a push"
            )
        }
        let size = JSONWriter.write { info.write(to: &$0) }.count
        guard size <= limits.notificationInfoBytes else {
            throw WireError.badRequest(
                "notificationInfo takes \(size) bytes as JSON; at most "
                    + "\(limits.notificationInfoBytes) are stored, and a push carries "
                    + "\(PayloadPruner.limit)",
                ckCode: CKErrorCode.limitExceeded
            ).naming(.notificationInfoBytes)
        }
    }

    /// Checks that the fields a query subscription shows have types that a payload
    /// can carry and are not stored encrypted (NINFO-20), as far as they are known:
    /// a field that no record had yet may still become anything.
    static func checkFields(of subscription: WireSubscription, on type: RecordType) throws {
        guard let info = subscription.notificationInfo else { return }
        let uses: [(member: String, fields: [String]?, allowed: Set<FieldType>)] = [
            ("additionalFields", info.desiredKeys, desired),
            ("alertLocalizationArgs", info.alert.localizationArgs, arguments),
            ("titleLocalizationArgs", info.alert.titleLocalizationArgs, arguments),
            ("subtitleLocalizationArgs", info.alert.subtitleLocalizationArgs, arguments),
        ]
        for use in uses {
            for field in use.fields ?? [] {
                guard let known = type.fields?[field] else {
                    guard !type.mayGrow, use.member == "additionalFields" else { continue }
                    // NB: the words are CloudKit's (SUB-27).
                    throw WireError.badRequest(
                        "could not find requested additional field "
                            + "'\(WireError.shortened(field))' in record type "
                            + "'\(WireError.shortened(type.name))'; \(type.container.deployment)")
                }
                if known.isEncrypted {
                    throw WireError.badRequest(
                        "\(use.member) names '\(WireError.shortened(field))', which record type "
                            + "'\(WireError.shortened(type.name))' stores encrypted; pushes are not"
                    )
                }
                guard !use.allowed.contains(known.type) else { continue }
                throw WireError.badRequest(
                    "\(use.member) names '\(WireError.shortened(field))', which is of type "
                        + "\(known.type.rawValue) in record type '\(WireError.shortened(type.name))'; "
                        + "a push carries \(names(of: use.allowed)) there"
                )
            }
        }
    }

    /// NINFO-4: strings, numbers and dates.
    private static let arguments: Set<FieldType> = [.string, .int64, .double, .timestamp]
    /// NINFO-16: locations and references too.
    static let desired: Set<FieldType> = arguments.union([.location, .reference])

    private static func names(of types: Set<FieldType>) -> String {
        types.map(\.rawValue).sorted().joined(separator: ", ")
    }
}
