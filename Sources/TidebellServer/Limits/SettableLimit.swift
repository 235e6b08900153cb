// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

/// A bound that an operator sets by its name: the one that errors name and refusals are counted
/// by, or which begins with it and a dot.
package struct SettableLimit: Sendable {
    /// What a number of a limit counts.
    package enum Unit: Sendable {
        case count, bytes, seconds
    }

    package let name: String
    package let unit: Unit
    /// What it may be set to, in its unit.
    package let range: ClosedRange<Int64>
    /// What is bounded, as a sentence.
    package let meaning: String
    /// What holds where there is no number, as it is shown; nil where there always is one.
    package let absent: String?
    /// The word that sets it to no number; nil where that cannot be set.
    package let absentWord: String?
    private let get: @Sendable (ServerConfiguration) -> Int64?
    private let put: @Sendable (Int64?, inout ServerConfiguration) -> Void

    /// The path to a value of the configuration.
    package typealias ConfigurationPath<Value> = any WritableKeyPath<ServerConfiguration, Value>
        & Sendable

    /// Creates a limit that is a number of things.
    init(
        _ name: String, _ path: ConfigurationPath<Int>, _ range: ClosedRange<Int64>,
        _ meaning: String
    ) {
        self.init(name, path, .count, range, meaning)
    }

    /// Creates a limit that is a number.
    init(
        _ name: String, _ path: ConfigurationPath<Int>, _ unit: Unit, _ range: ClosedRange<Int64>,
        _ meaning: String
    ) {
        self.init(
            name, unit, range, meaning, get: { Int64($0[keyPath: path]) },
            put: { if let value = $0 { $1[keyPath: path] = Int(value) } })
    }

    /// Creates a limit that is a number of bytes.
    init(
        _ name: String, _ path: ConfigurationPath<Int64>, _ range: ClosedRange<Int64>,
        _ meaning: String
    ) {
        self.init(
            name, .bytes, range, meaning, get: { $0[keyPath: path] },
            put: { if let value = $0 { $1[keyPath: path] = value } })
    }

    /// Creates a limit that is a time, in whole seconds.
    init(
        _ name: String, _ path: ConfigurationPath<Duration>, _ range: ClosedRange<Int64>,
        _ meaning: String
    ) {
        self.init(
            name, .seconds, range, meaning, get: { $0[keyPath: path].components.seconds },
            put: { if let value = $0 { $1[keyPath: path] = .seconds(value) } })
    }

    /// Creates a limit that the server finds by itself unless it is set.
    init(
        _ name: String, _ path: ConfigurationPath<Int?>, _ range: ClosedRange<Int64>, unset: String,
        _ meaning: String
    ) {
        self.init(
            name, .count, range, meaning, absent: unset,
            get: { $0[keyPath: path].map(Int64.init) },
            put: { $1[keyPath: path] = $0.map(Int.init) })
    }

    /// Creates a limit of bytes that there may be none of: the word for that is `none`.
    init(
        _ name: String, _ path: ConfigurationPath<Int64?>, orNone range: ClosedRange<Int64>,
        _ meaning: String
    ) {
        self.init(
            name, .bytes, range, meaning, absent: "none", absentWord: "none",
            get: { $0[keyPath: path] }, put: { $1[keyPath: path] = $0 })
    }

    private init(
        _ name: String, _ unit: Unit, _ range: ClosedRange<Int64>, _ meaning: String,
        absent: String? = nil, absentWord: String? = nil,
        get: @escaping @Sendable (ServerConfiguration) -> Int64?,
        put: @escaping @Sendable (Int64?, inout ServerConfiguration) -> Void
    ) {
        self.name = name
        self.unit = unit
        self.range = range
        self.meaning = meaning
        self.absent = absent
        self.absentWord = absentWord
        self.get = get
        self.put = put
    }

    /// The limit in a configuration; nil for no number.
    package func value(in configuration: ServerConfiguration) -> Int64? { get(configuration) }

    /// Sets the limit to what ``value(of:)`` read.
    package func set(_ value: Int64?, in configuration: inout ServerConfiguration) {
        put(value, &configuration)
    }
}

// MARK: - As text

extension SettableLimit {
    /// Reads a value, such as `1000`, `64M` or `30s`; fails with what may be set.
    ///
    /// - Parameter subject: What the error begins with.
    package func value(of text: String, subject: String) throws(OperatorError) -> Int64? {
        if let absentWord, text == absentWord { return nil }
        guard let value = unit.number(text), range.contains(value) else {
            let none = absentWord.map { ", or \($0)" } ?? ""
            throw OperatorError(
                "\(subject) must be \(unit.text(range.lowerBound)) to "
                    + "\(unit.text(range.upperBound))\(unit.hint)\(none), not '\(text)'."
            )
        }
        return value
    }

    /// A value as it is written.
    package func text(_ value: Int64?) -> String {
        value.map(unit.text) ?? absent ?? ""
    }
}

extension SettableLimit.Unit {
    /// The letters that multiply a number, the largest first.
    private var letters: [(letter: String, factor: Int64)] {
        switch self {
        case .count: []
        case .bytes: [("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)]
        case .seconds: [("d", 24 * 3600), ("h", 3600), ("m", 60), ("s", 1)]
        }
    }

    /// What an error adds about how values are written.
    fileprivate var hint: String {
        switch self {
        case .count: ""
        case .bytes: " (bytes, or with K, M or G)"
        case .seconds: " (seconds, or with s, m, h or d)"
        }
    }

    /// Reads a number that is not negative; nil for what is none.
    package func number(_ text: String) -> Int64? {
        let letter = letters.first { text.lowercased().hasSuffix($0.letter.lowercased()) }
        let digits = letter == nil ? text[...] : text.dropLast()
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let count = Int64(digits)
        else { return nil }
        let (value, overflows) = count.multipliedReportingOverflow(by: letter?.factor ?? 1)
        return overflows ? nil : value
    }

    /// Writes a number, with the largest letter that leaves it whole.
    package func text(_ value: Int64) -> String {
        guard let letter = letters.first(where: { value >= $0.factor && value % $0.factor == 0 })
        else { return "\(value)" }
        return "\(value / letter.factor)\(letter.letter)"
    }
}
