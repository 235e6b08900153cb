// SPDX-License-Identifier: Apache-2.0

/// Values as text in which sets and dictionaries have an order, so that equal values give
/// equal texts.
enum CanonicalText {
    static func of(_ value: Any) -> String {
        if let bytes = value as? [UInt8] { return String(decoding: bytes, as: UTF8.self) }
        let mirror = Mirror(reflecting: value)
        let children = mirror.children.map { child in
            (child.label.map { "\($0): " } ?? "") + of(child.value)
        }
        switch mirror.displayStyle {
        case .set, .dictionary: return "{\(children.sorted().joined(separator: ", "))}"
        case .collection, .tuple: return "[\(children.joined(separator: ", "))]"
        case .optional: return children.first ?? "nil"
        case .struct where !children.isEmpty, .enum where !children.isEmpty:
            return "\(mirror.subjectType)(\(children.joined(separator: ", ")))"
        // Two objects are not distinguished by anything that would be a difference.
        case .class, .foreignReference: return "\(mirror.subjectType)"
        default: return String(reflecting: value)
        }
    }
}
