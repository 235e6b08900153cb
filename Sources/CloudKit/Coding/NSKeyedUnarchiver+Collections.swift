// SPDX-License-Identifier: Apache-2.0
import Foundation

// Two of Apple's methods that Foundation on Linux lacks.
extension NSKeyedUnarchiver {
    /// Reads an array of objects of one class from an archive that requires secure coding.
    public static func unarchivedArrayOfObjects<DecodedObjectType: NSObject & NSCoding>(
        ofClass cls: DecodedObjectType.Type,
        from data: Data
    ) throws -> [DecodedObjectType]? {
        let object = try unarchivedObject(ofClasses: [NSArray.self, cls], from: data)
        return object as? [DecodedObjectType]
    }

    /// Reads a dictionary of keys of one class and objects of another from an archive that
    /// requires secure coding.
    public static func unarchivedDictionary<
        DecodedKeyType: NSObject & NSCopying & NSCoding,
        DecodedObjectType: NSObject & NSCoding
    >(
        ofKeyClass keyClass: DecodedKeyType.Type,
        objectClass: DecodedObjectType.Type,
        from data: Data
    ) throws -> [DecodedKeyType: DecodedObjectType]? {
        let object = try unarchivedObject(
            ofClasses: [NSDictionary.self, keyClass, objectClass],
            from: data
        )
        return object as? [DecodedKeyType: DecodedObjectType]
    }
}
