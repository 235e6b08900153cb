// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension PushExplanation {
    /// The explanation for a person to read in a terminal.
    package var text: String {
        var lines: [String] = []
        var container: ContainerKey?
        for change in changes {
            if change.database.container != container {
                container = change.database.container
                if !lines.isEmpty { lines.append("") }
                lines.append(change.database.container.text)
            }
            lines.append("")
            lines += change.lines
        }
        return (lines + hints).map(\.printable).joined(separator: "\n")
    }
}

extension String {
    /// The text without control characters and line ends: names that apps choose, answers of
    /// other servers and what a backup contains must not steer the operator's terminal.
    package var printable: String {
        guard unicodeScalars.contains(where: \.isControl) else { return self }
        let scalars = unicodeScalars.map { $0.isControl ? "\u{FFFD}" : $0 }
        return String(String.UnicodeScalarView(scalars))
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

extension ContainerKey {
    fileprivate var text: String { "\(container) · \(environment.rawValue)" }
}

extension ExplainedDatabase {
    /// The database in words.
    var text: String {
        guard scope != .public else { return "public database" }
        return "\(scope.rawValue) database of \(ownerName ?? "a removed user")"
    }
}

extension ExplainedChange {
    fileprivate var lines: [String] {
        var maker = originUserName.map { "by \($0)" } ?? "by the server"
        if let originClient {
            maker = "by device \(ExplainedDevice.short(originClient))"
            if let originUserName { maker += " of \(originUserName)" }
        }
        var lines = [
            "\(event.text(in: zoneName)), \(database.text)",
            "\(committedAt.text) \(maker), change \(id.position.rawValue)",
        ]
        if !isNotified {
            lines.append("  … not notified yet: the push pipeline is late, stopped or failing")
        }
        if subscriptions.isEmpty, participants.isEmpty {
            lines.append("  there is no subscription that it could fire")
        }
        lines += subscriptions.flatMap { $0.lines(of: self) }
        if hasMoreSubscriptions { lines.append("  … and more; name a user to see theirs") }
        lines += participants.map(\.line)
        if hasMoreParticipants { lines.append("  … and more participants; name a user to see one") }
        return lines
    }
}

extension ExplainedChange.Event {
    fileprivate func text(in zone: String) -> String {
        switch self {
        case .zoneCreated: return "zone \(zone) created"
        case .zoneDeleted(let reason): return "zone \(zone) deleted (\(reason.rawValue))"
        case .records(let records, let count):
            let shown = records.map { "\($0.name) (\($0.type)) \($0.event.verb)" }
            let more = count > records.count ? " and \(count - records.count) more" : ""
            let noun = count == 1 ? "record" : "records"
            return "\(noun) \(shown.joined(separator: ", "))\(more) in zone \(zone)"
        }
    }
}

extension ExplainedRule {
    /// The rule as a clause with its number.
    var text: String { number.map { "\(clause) (\($0))" } ?? clause }
}

extension ExplainedSubscription {
    fileprivate func lines(of change: ExplainedChange) -> [String] {
        let mark =
            switch outcome {
            case .notified: "✓"
            case .waiting: "…"
            case .doesNotFire, .missed: "✗"
            }
        var title = "  \(mark) \(subscriptionID)"
        if change.database.ownerName == nil || change.database.ownerName != userName {
            title += " of \(userName ?? "a removed user")"
        }
        if let summary { title += " (\(summary))" }
        let details: [String] =
            switch outcome {
            case .notified(let notifications): notifications.flatMap { $0.lines(of: change) }
            default: []
            }
        let warnings = [warning, unindexed].compactMap { $0.map { "! " + $0 } }
        return [title + ": " + rule.text] + (warnings + details).map { "      " + $0 }
    }
}

extension ExplainedParticipant {
    fileprivate var line: String {
        let mark =
            switch outcome {
            case .taken: "✓"
            case .waiting: "…"
            case .notTaken: "✗"
            }
        let ids = subscriptionIDs.isEmpty ? "" : " (\(subscriptionIDs.joined(separator: ", ")))"
        return "  \(mark) participant \(userName ?? "of a removed account")\(ids): \(rule.text)"
    }
}

extension ExplainedNotification {
    fileprivate func lines(of change: ExplainedChange) -> [String] {
        var words = [
            isBackground ? "background, priority 5" : "alert, priority 10",
            "\(payloadSize) bytes",
        ]
        if !pruned.isEmpty {
            words.append("without \(pruned.joined(separator: ", ")) for its size (PRUNE-4)")
        }
        if isLast { words.append("the only one it sends (SUB-19)") }
        let record = recordName.map { " for \($0)" } ?? ""
        var lines = ["→ \(notificationID)\(record), \(words.joined(separator: ", "))"]
        if isMerged {
            lines.append("  it also reports a later change that came with this one (PUSH-2)")
        }
        if let replacedBy {
            lines.append("  replaced in the log by the newer \(replacedBy) (PUSH-2)")
        }
        let width = devices.map { ExplainedDevice.short($0.clientID).count }.max() ?? 0
        for device in devices {
            let name = ExplainedDevice.short(device.clientID)
            let padding = String(repeating: " ", count: width - name.count)
            lines.append("  \(name)\(padding)  \(device.text(of: change, self))")
        }
        lines += otherAttempts.map { attempt in
            let device = attempt.clientID.map { ExplainedDevice.short($0) + "  " } ?? ""
            return "  \(device)\(attempt.text(since: change.committedAt))"
        }
        if !devices.contains(where: { $0.state != .origin }), otherAttempts.isEmpty {
            lines.append("  no other device is registered, so no device is notified (SUB-48)")
        }
        return lines
    }
}

extension ExplainedDevice {
    /// Characters of a client ID that are shown.
    private static let shownCharacters = 12

    /// A client ID short enough for a line.
    fileprivate static func short(_ clientID: String) -> String {
        clientID.count <= shownCharacters ? clientID : clientID.prefix(8) + "…"
    }

    fileprivate func text(
        of change: ExplainedChange, _ notification: ExplainedNotification
    ) -> String {
        let tries = attempts.map { $0.text(since: change.committedAt) }.joined(separator: ", ")
        switch state {
        case .origin:
            return "made the change and is not notified (SUB-46)"
                + (tries.isEmpty ? "" : "; " + tries)
        case .tried: return tries
        case .acknowledged: return "has it: it acknowledged this or a later one"
        case .registeredLater(let moment):
            return "was registered after the change, \(moment.text) (SUB-48)"
        case .waiting where notification.replacedBy != nil:
            return "was not connected then; gets the newer one"
        case .waiting:
            return "has not acknowledged it; the log keeps it for when it connects (PUSH-13)"
        }
    }
}

extension Delivery {
    /// The attempt with its time after the change.
    fileprivate func text(since start: Instant) -> String {
        "\(route.rawValue) \(at.text(since: start)) \(answer)"
    }
}

extension Instant {
    /// The time since an earlier moment: `+9 ms`, `+1.5 s`, `+3 min`, `+2 h`.
    fileprivate func text(since start: Instant) -> String {
        let milliseconds = rawValue - start.rawValue
        switch abs(milliseconds) {
        case ..<1_000: return "\(milliseconds < 0 ? "" : "+")\(milliseconds) ms"
        case ..<120_000:
            let tenths = Double(milliseconds / 100) / 10
            return "\(milliseconds < 0 ? "" : "+")\(tenths) s"
        case ..<7_200_000: return "\(milliseconds < 0 ? "" : "+")\(milliseconds / 60_000) min"
        default: return "\(milliseconds < 0 ? "" : "+")\(milliseconds / 3_600_000) h"
        }
    }
}
