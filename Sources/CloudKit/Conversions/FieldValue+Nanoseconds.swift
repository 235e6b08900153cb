// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

// A program's dates are finer than the wire's milliseconds. The rest goes beside them,
// so that a date that was saved is equal to the one that comes back, as with Apple's.
extension CKRecord.FieldValue {
    /// How far the date, or each date of a list, is from its milliseconds.
    var nanoseconds: [Int64] {
        switch self {
        case .date(let date): [date.nanosecondsFromMillisecond]
        case .list(let elements):
            elements.compactMap { element in
                guard case .date(let date) = element else { return nil }
                return date.nanosecondsFromMillisecond
            }
        default: []
        }
    }

    /// Returns the value with its dates moved by so many nanoseconds.
    func moved(by nanoseconds: [Int64]) -> CKRecord.FieldValue {
        switch self {
        case .date(let date): .date(date.moved(by: nanoseconds.first ?? 0))
        case .list(let elements) where elements.count == nanoseconds.count:
            .list(zip(elements, nanoseconds).map { $0.moved(by: [$1]) })
        default: self
        }
    }
}

extension Date {
    /// How far the date is from ``millisecondsSince1970``.
    fileprivate var nanosecondsFromMillisecond: Int64 {
        let rounded = Date(millisecondsSince1970: millisecondsSince1970)
        let distance = (timeIntervalSince(rounded) * 1e9).rounded()
        // Far beyond all calendars the milliseconds are as fine as the date, or the end.
        guard abs(distance) <= Double(TidebellWire.Field.maximumNanoseconds) else { return 0 }
        return Int64(distance)
    }

    fileprivate func moved(by nanoseconds: Int64) -> Date {
        nanoseconds == 0 ? self : self + Double(nanoseconds) / 1e9
    }
}
