// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A constant of a predicate, or what a key path leads to.
///
/// Every object becomes the same value whatever class or width it came in. Times
/// have milliseconds, as CloudKit's do.
enum PredicateValue: Sendable, Hashable {
    case null
    /// A value a field can hold, other than a list.
    case scalar(CKRecord.FieldValue)
    /// The ID of a record, which compares with references to it (QUERY-10).
    case recordID(CKRecordID)
    case list([PredicateValue])
    /// An object CloudKit cannot compare (QUERY-7).
    case other(PredicateObject)

    /// Converts an object; nil and `NSNull` are ``null``, a record is its ID.
    init(_ object: Any?) {
        guard let object else {
            self = .null
            return
        }
        switch object {
        case is NSNull: self = .null
        case let value as PredicateValue: self = value
        case let number as CGFloat: self = .scalar(.double(Double(number)))
        case let id as CKRecordID: self = .recordID(id)
        case let record as CKRecord: self = .recordID(record.recordID)
        default: self.init(other: object)
        }
    }

    private init(other object: Any) {
        if let elements = Self.elements(of: object) {
            // Not `map(Self.init)`: that would be the one of other objects.
            self = .list(elements.map { Self($0) })
        } else if let value = CKRecord.FieldValue(object) {
            self = .scalar(value.atMilliseconds)
        } else if let wrapped = object as? any AnyOptional {
            self.init(wrapped.wrappedObject)
        } else {
            self = .other(PredicateObject(object))
        }
    }

    /// The elements of a list or a set; nil for anything else.
    static func elements(of object: Any) -> [Any]? {
        if case .list(let elements)? = object as? PredicateValue { return elements }
        return switch object {
        case let elements as NSOrderedSet: elements.array
        case let elements as NSSet: sorted(elements.allObjects)
        case let elements as any SetLike: sorted(elements.members)
        default: object as? [Any]
        }
    }

    /// Sets have no order: theirs is the one of the texts of their elements.
    private static func sorted(_ elements: [Any]) -> [Any] {
        elements.map { (text(of: $0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// NB: Foundation on Linux ends the process when it describes a date that is no number.
    private static func text(of element: Any) -> String {
        (element as? Date).map { "\($0.timeIntervalSinceReferenceDate)" } ?? "\(element)"
    }

    /// The object in an optional that is kept as `Any`; nil when there is none.
    static func unwrapped(_ object: Any?) -> Any? {
        guard let object, let optional = object as? any AnyOptional else { return object }
        return unwrapped(optional.wrappedObject)
    }
}

/// An object of a class CloudKit does not know; compared by the class's own rules.
struct PredicateObject: Hashable, @unchecked Sendable {
    // Sendable: kept to be compared and named, never changed.

    /// The name of the class.
    let type: String
    /// The object, when its class can be compared.
    let base: AnyHashable?

    /// Keeps an object.
    init(_ object: Any) {
        type = "\(Swift.type(of: object))"
        base = object as? AnyHashable
    }
}

extension CKRecord.FieldValue {
    /// The value as CloudKit keeps it.
    fileprivate var atMilliseconds: Self {
        // What is no date stays so, to be refused when it is sent.
        guard case .date(let date) = self, date.isFinite else { return self }
        return .date(Date(millisecondsSince1970: date.millisecondsSince1970))
    }
}

/// Swift's sets, whatever is in them.
private protocol SetLike {
    var members: [Any] { get }
}

extension Set: SetLike {
    fileprivate var members: [Any] { Array(self) }
}

/// Optionals in an `Any`, which a cast does not open.
private protocol AnyOptional {
    var wrappedObject: Any? { get }
}

extension Optional: AnyOptional {
    fileprivate var wrappedObject: Any? {
        switch self {
        case .none: nil
        case .some(let wrapped): wrapped
        }
    }
}
