// SPDX-License-Identifier: Apache-2.0
public import Foundation

// Methods of Apple's Foundation that the one on Linux lacks.
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

extension NSCoder {
    /// Reads an array of objects of one class; nil when there is none.
    public func decodeArrayOfObjects<DecodedObjectType: NSObject & NSSecureCoding>(
        ofClass cls: DecodedObjectType.Type,
        forKey key: String
    ) -> [DecodedObjectType]? {
        guard holdsValue(forKey: key) else { return nil }
        return decodeObject(of: [NSArray.self, cls], forKey: key) as? [DecodedObjectType]
    }

    /// Reads a dictionary of keys of one class and objects of another; nil when there is none.
    public func decodeDictionary<
        DecodedKeyType: NSObject & NSCopying & NSSecureCoding,
        DecodedObjectType: NSObject & NSSecureCoding
    >(
        withKeyClass keyClass: DecodedKeyType.Type,
        objectClass: DecodedObjectType.Type,
        forKey key: String
    ) -> [DecodedKeyType: DecodedObjectType]? {
        guard holdsValue(forKey: key) else { return nil }
        let classes: [AnyClass] = [NSDictionary.self, keyClass, objectClass]
        return decodeObject(of: classes, forKey: key) as? [DecodedKeyType: DecodedObjectType]
    }
}
