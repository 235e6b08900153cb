// SPDX-License-Identifier: Apache-2.0
import TidebellLocation
import Foundation

extension CKRecord {
    /// The value of a field as the record keeps it, and as the wire knows it (REC-4).
    ///
    /// Every value that is set becomes one of these, whatever class or width it came
    /// in; every value that is read becomes a new Foundation object, so that
    /// `as? Int`, `as? Double`, `as? NSNumber` and the like all answer, as on Apple's
    /// systems. There are no truth values: they are the numbers 0 and 1.
    enum FieldValue: Sendable, Hashable {
        /// A text.
        case string(String)
        /// A whole number, or a truth value as 0 or 1.
        case int64(Int64)
        /// A fraction.
        case double(Double)
        /// A time.
        case date(Date)
        /// Bytes.
        case bytes(Data)
        /// A location.
        case location(CLLocation)
        /// A link to a record.
        case reference(CKReference)
        /// A file.
        case asset(CKAsset)
        /// Values of one type.
        case list([FieldValue])
    }
}

extension CKRecord.FieldValue {
    /// Converts what a program sets; nil when a field cannot hold it.
    init?(_ value: Any) {
        if let scalar = Self(scalar: value) {
            self = scalar
        } else if let elements = value as? [Any] {
            self.init(list: elements)
        } else {
            return nil
        }
    }

    /// The value as an object of Foundation, CoreLocation or CloudKit, which either kind
    /// of subscript can return.
    var object: any __CKRecordObjCValue & CKRecordValueProtocol {
        switch self {
        case .string(let text): NSString(string: text)
        case .int64(let number): NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        case .date(let date): date as NSDate
        case .bytes(let data): data as NSData
        case .location(let location): location
        case .reference(let reference): reference
        case .asset(let asset): asset
        case .list(let elements): NSArray(array: elements.map(\.object))
        }
    }

    /// Whether a field that is stored encrypted may hold the value (REC-11).
    var isEncryptable: Bool {
        switch self {
        case .reference, .asset: false
        case .list(let elements): elements.allSatisfy(\.isEncryptable)
        default: true
        }
    }

    private init?(scalar value: Any) {
        switch value {
        case let text as String: self = .string(text)
        case let number as NSNumber: self.init(number: number)
        case let date as Date: self = .date(date)
        case let data as Data: self = .bytes(data)
        case let location as CLLocation: self = .location(location)
        case let reference as CKReference: self = .reference(reference)
        case let asset as CKAsset: self = .asset(asset)
        default: return nil
        }
    }

    private init(number: NSNumber) {
        switch number.objCType.pointee {
        case CChar(bitPattern: UInt8(ascii: "d")), CChar(bitPattern: UInt8(ascii: "f")):
            self = .double(number.doubleValue)
        default:
            // NB: the server knows signed numbers of 64 bits only; larger unsigned
            // ones wrap, as `NSNumber.int64Value` does on Apple's systems.
            self = .int64(number.int64Value)
        }
    }

    private init?(list elements: [Any]) {
        var values: [Self] = []
        for element in elements {
            guard let value = Self(scalar: element) else { return nil }
            values.append(value)
        }
        guard let uniform = Self.uniform(values) else { return nil }
        self = .list(uniform)
    }

    /// Returns the elements as one type; nil when they are of several (REC-4).
    ///
    /// Whole numbers beside fractions become fractions: both are numbers.
    private static func uniform(_ values: [Self]) -> [Self]? {
        let types = Set(values.map(\.type))
        if types.count <= 1 { return values }
        guard types == [.int64, .double] else { return nil }
        return values.map { value in
            if case .int64(let number) = value { .double(Double(number)) } else { value }
        }
    }
}

extension CKRecord.FieldValue {
    /// The type of a field, without its value.
    enum FieldType: UInt8, Sendable {
        /// A text.
        case string = 1
        /// A whole number, or a truth value as 0 or 1.
        case int64 = 2
        /// A fraction.
        case double = 3
        /// A time.
        case date = 4
        /// Bytes.
        case bytes = 5
        /// A location.
        case location = 6
        /// A link to a record.
        case reference = 7
        /// A file.
        case asset = 8
        /// Values of one type.
        case list = 9
    }

    /// The type of the value.
    var type: FieldType {
        switch self {
        case .string: .string
        case .int64: .int64
        case .double: .double
        case .date: .date
        case .bytes: .bytes
        case .location: .location
        case .reference: .reference
        case .asset: .asset
        case .list: .list
        }
    }
}
