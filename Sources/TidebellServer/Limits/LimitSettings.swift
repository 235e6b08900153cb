// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

/// What an operator sets of the limits, each at most once.
package struct LimitSettings: Sendable {
    private struct Setting {
        var limit: SettableLimit
        var value: Int64?
        /// What the operator wrote.
        var source: String
    }

    private var settings: [Setting] = []

    /// Creates settings of nothing.
    package init() {}

    /// Takes `NAME=VALUE`; fails with what is known or allowed.
    package mutating func set(_ text: String) throws(OperatorError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else {
            throw OperatorError("--limit must be NAME=VALUE, not '\(text)'.")
        }
        let name = String(parts[0])
        try set(name, to: String(parts[1]), subject: "The limit \(name)", source: "--limit \(text)")
    }

    /// Takes the value of an option that stands for limits.
    package mutating func set(
        _ names: String..., to value: String, by option: String
    ) throws(OperatorError) {
        for name in names {
            try set(name, to: value, subject: option, source: "\(option) \(value)")
        }
    }

    private mutating func set(
        _ name: String, to text: String, subject: String, source: String
    ) throws(OperatorError) {
        guard let limit = SettableLimit.all.first(where: { $0.name == name }) else {
            throw Self.unknown(name)
        }
        if let other = settings.first(where: { $0.limit.name == name }) {
            throw OperatorError(
                "The limit \(name) is set twice: by \(other.source), and by \(source).")
        }
        let value = try limit.value(of: text, subject: subject)
        settings.append(Setting(limit: limit, value: value, source: source))
    }

    /// Puts the settings into a configuration.
    package func apply(to configuration: inout ServerConfiguration) {
        for setting in settings { setting.limit.set(setting.value, in: &configuration) }
    }

    private static func unknown(_ name: String) -> OperatorError {
        let names = SettableLimit.all.map(\.name)
        let guess = NearName.of(name, among: names)
        return OperatorError(
            "There is no limit '\(WireError.shortened(name))'."
                + (guess.map { " Did you mean '\($0)'?" } ?? "")
                + " The limits are: \(names.joined(separator: ", ")). "
                + "`tidebell limits` explains them."
        )
    }
}
