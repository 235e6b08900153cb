// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A dictionary of a push, in any of the forms programs hold it in.
package struct PushDictionary {
    /// The values by their keys.
    package let values: [String: Any]

    /// Wraps a Swift dictionary or an `NSDictionary`; nil for anything else.
    package init?(_ value: Any?) {
        guard let values = value as? [AnyHashable: Any] else { return nil }
        var byText: [String: Any] = [:]
        for (key, value) in values {
            if let key = key.base as? String { byText[key] = value }
        }
        self.values = byText
    }

    /// The raw value of a key.
    package subscript(key: String) -> Any? { values[key] }

    /// Returns whether there is anything under a key.
    package func holds(_ key: String) -> Bool {
        values[key] != nil && !(values[key] is NSNull)
    }

    /// Returns a text.
    package func string(_ key: String) -> String? { values[key] as? String }

    /// Returns a whole number, whatever its width (PUSH-22).
    package func integer(_ key: String) -> Int? {
        switch values[key] {
        case let number as Int: number
        case let number as Int64: Int(exactly: number)
        case let number as any BinaryInteger: Int(exactly: number)
        case let number as NSNumber: Int(exactly: number.doubleValue)
        default: nil
        }
    }

    /// Returns a list of texts; numbers in it become texts.
    package func strings(_ key: String) -> [String]? {
        guard let elements = values[key] as? [Any] else { return nil }
        return elements.map { ($0 as? String) ?? "\($0)" }
    }

    /// Returns a number.
    package func double(_ key: String) -> Double? {
        (values[key] as? NSNumber)?.doubleValue ?? values[key] as? Double
            ?? integer(key).map { Double($0) }
    }
}
