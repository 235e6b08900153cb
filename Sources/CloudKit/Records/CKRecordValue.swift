// SPDX-License-Identifier: Apache-2.0
public import TidebellLocation
public import Foundation

/// A Swift type of values that a field of a record can have (REC-4).
///
/// See <https://developer.apple.com/documentation/cloudkit/ckrecordvalueprotocol>.
///
/// NB: on Apple's systems a value that is read is an object, whose `description` Apple's
/// own listings print.
public protocol CKRecordValueProtocol: CustomStringConvertible {}

/// A type of values that a field of a record can have (REC-4). Known as `CKRecordValue`.
///
/// NB: on Apple's systems only classes conform, and `"text" as CKRecordValue`
/// bridges. Linux does not bridge in casts, so the Swift types conform too.
public protocol __CKRecordObjCValue: CustomStringConvertible {}

/// The older name of the types that a field of a record can have.
public typealias CKRecordValue = __CKRecordObjCValue

// Every value of a field is an `NSObject` on Apple's systems. Disfavored, so that an app's
// own method of this name comes first.
extension CKRecordValueProtocol {
    /// Returns whether a value of a field equals another value.
    @_disfavoredOverload
    public func isEqual(_ object: Any?) -> Bool { isEqualValue(self, object) }
}

extension __CKRecordObjCValue {
    /// Returns whether a value of a field equals another value.
    @_disfavoredOverload
    public func isEqual(_ object: Any?) -> Bool { isEqualValue(self, object) }
}

/// Compares as a field would hold the two; what no field can hold equals nothing.
private func isEqualValue(_ value: Any, _ other: Any?) -> Bool {
    guard let other, let value = CKRecord.FieldValue(value) else { return false }
    return CKRecord.FieldValue(other) == value
}

extension String: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Date: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Data: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Bool: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Double: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Float: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Int: CKRecordValueProtocol, __CKRecordObjCValue {}
extension UInt: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Int8: CKRecordValueProtocol, __CKRecordObjCValue {}
extension UInt8: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Int16: CKRecordValueProtocol, __CKRecordObjCValue {}
extension UInt16: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Int32: CKRecordValueProtocol, __CKRecordObjCValue {}
extension UInt32: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Int64: CKRecordValueProtocol, __CKRecordObjCValue {}
extension UInt64: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Array: CKRecordValueProtocol, __CKRecordObjCValue where Element: CKRecordValueProtocol {}

extension NSString: CKRecordValueProtocol, __CKRecordObjCValue {}
extension NSNumber: CKRecordValueProtocol, __CKRecordObjCValue {}
extension NSDate: CKRecordValueProtocol, __CKRecordObjCValue {}
extension NSData: CKRecordValueProtocol, __CKRecordObjCValue {}
extension NSArray: CKRecordValueProtocol, __CKRecordObjCValue {}
extension CLLocation: CKRecordValueProtocol, __CKRecordObjCValue {}
extension CKReference: CKRecordValueProtocol, __CKRecordObjCValue {}
extension CKAsset: CKRecordValueProtocol, __CKRecordObjCValue {}
