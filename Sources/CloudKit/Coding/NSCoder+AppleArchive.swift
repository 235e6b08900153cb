// SPDX-License-Identifier: Apache-2.0
import Foundation

// Reading of archives that Apple's CloudKit wrote. Every method asks whether the
// key exists first: on Linux, a missing key ends the process.
//
// NB: Foundation on Linux also ends the process when an archive that requires
// secure coding names another class than the one asked for. Read only archives
// you trust, such as the files of your own app.
extension NSCoder {
    /// Reads a text.
    func appleString(forKey key: String) -> String? {
        appleObject(NSString.self, forKey: key) as String?
    }

    /// Reads a time.
    func appleDate(forKey key: String) -> Date? {
        appleObject(NSDate.self, forKey: key) as Date?
    }

    /// Reads a whole number.
    func appleInteger(forKey key: String) -> Int? {
        holdsValue(forKey: key) ? decodeInteger(forKey: key) : nil
    }

    /// Reads bytes, which stand in the archive directly or as an object.
    func appleData(forKey key: String) -> Data? {
        inlineBytes(forKey: key).map { Data($0) }
            ?? appleObject(NSData.self, forKey: key) as Data?
    }

    /// Reads an object of one class.
    func appleObject<Object: NSObject & NSCoding>(
        _ type: Object.Type,
        forKey key: String
    ) -> Object? {
        holdsValue(forKey: key) ? decodeObject(of: type, forKey: key) : nil
    }
}
