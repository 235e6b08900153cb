// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

extension NotificationBuilder {
    /// What is shown (NINFO-2 to 9): what the subscription asks for, with values for the names of
    /// fields.
    ///
    /// A localization key beats the text beside it (NINFO-3, NINFO-6); arguments
    /// without a key have nothing to go into.
    static func alert(
        _ info: WireNotificationInfo, _ fields: [String: Field]
    ) -> WireAlert {
        var alert = info.alert
        fill(&alert.localizationArgs, of: alert.localizationKey, beside: &alert.body, fields)
        fill(
            &alert.titleLocalizationArgs, of: alert.titleLocalizationKey, beside: &alert.title,
            fields)
        fill(
            &alert.subtitleLocalizationArgs, of: alert.subtitleLocalizationKey,
            beside: &alert.subtitle, fields)
        return alert
    }

    private static func fill(
        _ arguments: inout [String]?, of key: String?, beside text: inout String?,
        _ fields: [String: Field]
    ) {
        if key == nil {
            arguments = nil
        } else {
            text = nil
            arguments = Self.arguments(arguments, fields)
        }
    }

    /// The values of the fields named, in order, as text; a field that the
    /// record lacks is filled with an empty one (NINFO-21).
    private static func arguments(
        _ names: [String]?, _ fields: [String: Field]
    ) -> [String]? {
        guard let names, !names.isEmpty else { return nil }
        var arguments: [String] = []
        var bytes = 0
        // What alone exceeds the history is pruned as a whole, whatever follows.
        for name in names where bytes <= PayloadPruner.historyLimit {
            let text = fields[name].flatMap(argument) ?? ""
            bytes += text.utf8.count + 1
            arguments.append(text)
        }
        return arguments
    }

    /// The text of an argument; only strings, numbers and dates have one
    /// (NINFO-4), and what is stored encrypted is not delivered (NINFO-20).
    private static func argument(_ field: Field) -> String? {
        guard !field.isEncrypted else { return nil }
        switch field.value {
        case .string(let text): return truncated(text)
        case .int64(let number): return String(number)
        case .double(let number):
            return Int64(exactly: number).map(String.init) ?? number.description
        case .timestamp(let milliseconds): return dateText(milliseconds)
        default: return nil
        }
    }

    /// The years 1 to 9999, which ISO 8601 writes with four digits.
    private static let writtenDates: ClosedRange<Int64> =
        -62_135_596_800_000...253_402_300_799_999

    /// A date as ISO 8601 text in UTC: the device has no format for an argument.
    private static func dateText(_ milliseconds: Int64) -> String {
        guard writtenDates.contains(milliseconds) else { return String(milliseconds) }
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000).ISO8601Format()
    }

    /// The values of the desired keys that the record has and a payload may
    /// carry, of deletions too (PUSH-23, PUSH-27).
    static func desiredFields(
        _ keys: [String]?, _ fields: [String: Field], in zone: ZoneID?
    ) -> [WirePushPayload.DesiredField] {
        var seen: Set<String> = []
        return (keys ?? []).prefix(NotificationInfoRules.desiredKeyLimit).compactMap { key in
            guard let field = fields[key], !field.isEncrypted, seen.insert(key).inserted,
                let value = carried(field.value, in: zone)
            else { return nil }
            return WirePushPayload.DesiredField(key: key, value: value)
        }
    }

    private static func carried(_ value: FieldValue, in zone: ZoneID?) -> FieldValue? {
        switch value {
        case .string(let text): return .string(truncated(text))
        case .int64, .double, .timestamp, .location: return value
        case .reference(var reference):
            reference.zoneID = reference.zoneID ?? zone
            return .reference(reference)
        case .bytes, .asset, .list: return nil
        }
    }

    private static func truncated(_ text: String) -> String {
        // NB: scalars, as NINFO-17 rules; a cluster may be cut.
        text.unicodeScalars.count <= fieldTextLimit
            ? text : String(text.unicodeScalars.prefix(fieldTextLimit))
    }
}
