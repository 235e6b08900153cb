// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The identity of a user, as far as the server reveals it.
///
/// See <https://developer.apple.com/documentation/cloudkit/ckuseridentity>.
open class CKUserIdentity: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable: every stored property of this class is a constant.
    let values: Values

    /// An address or record ID by which a user is looked up. Known as `CKUserIdentity.LookupInfo`.
    public typealias LookupInfo = CKUserIdentityLookupInfo

    /// Creates the identity that a server returned.
    init(_ values: Values) {
        self.values = values
        super.init()
    }

    /// Reads an identity from an archive; nil when it is damaged.
    public required init?(coder: NSCoder) {
        guard let values = coder.decodeArchiveBlob(Values.self) else { return nil }
        self.values = values
        super.init()
    }

    /// Always true: identities support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the identity to a keyed archive.
    open func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(values)
    }

    /// The lookup info by which the user was found; nil for a user who was not looked up.
    open var lookupInfo: CKUserIdentity.LookupInfo? {
        values.lookup.map(CKUserIdentityLookupInfo.init)
    }

    /// The user's name: nil, because accounts of this server have no such names.
    open var nameComponents: PersonNameComponents? { nil }

    /// The ID of the user's record; nil for an address without an account.
    open var userRecordID: CKRecord.ID? { values.userRecordID }

    /// Entries of the device's contacts: none, because Linux has no contacts.
    open var contactIdentifiers: [String] { [] }

    /// Whether the user has an account on the server (SHARE-22).
    open var hasiCloudAccount: Bool { values.userRecordID != nil }

    /// Returns the identity itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares all properties.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CKUserIdentity)?.values == values
    }

    /// A hash of all properties.
    open override var hash: Int { values.hashValue }

    /// The ID of the user's record and the lookup info, for logs and debuggers.
    open override var description: String {
        "<CKUserIdentity: userRecordID=\(userRecordID?.description ?? "nil"), "
            + "lookupInfo=\(lookupInfo?.description ?? "nil")>"
    }
}

/// By what a person is looked up: an email address, a phone number or a record ID.
///
/// See <https://developer.apple.com/documentation/cloudkit/ckuseridentity/lookupinfo>.
// NB: top-level, as all classes here: Foundation on Linux cannot archive nested ones.
open class CKUserIdentityLookupInfo: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable: every stored property of this class is a constant.
    let values: Values

    /// Looks up by an email address.
    public init(emailAddress: String) {
        values = .emailAddress(emailAddress)
        super.init()
    }

    /// Looks up by a phone number.
    public init(phoneNumber: String) {
        values = .phoneNumber(phoneNumber)
        super.init()
    }

    /// Looks up by the ID of a user's record.
    public init(userRecordID: CKRecord.ID) {
        values = .userRecordID(userRecordID)
        super.init()
    }

    init(_ values: Values) {
        self.values = values
        super.init()
    }

    /// Reads a lookup info from an archive; nil when it is damaged.
    public required init?(coder: NSCoder) {
        guard let values = coder.decodeArchiveBlob(Values.self) else { return nil }
        self.values = values
        super.init()
    }

    /// Always true: the class supports secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the lookup info to a keyed archive.
    open func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(values)
    }

    /// Returns a lookup info for each email address.
    open class func lookupInfos(withEmails emails: [String]) -> [CKUserIdentity.LookupInfo] {
        emails.map { CKUserIdentityLookupInfo(emailAddress: $0) }
    }

    /// Returns a lookup info for each phone number.
    open class func lookupInfos(
        withPhoneNumbers phoneNumbers: [String]
    ) -> [CKUserIdentity.LookupInfo] {
        phoneNumbers.map { CKUserIdentityLookupInfo(phoneNumber: $0) }
    }

    /// Returns a lookup info for each ID of a user's record.
    open class func lookupInfos(with recordIDs: [CKRecord.ID]) -> [CKUserIdentity.LookupInfo] {
        recordIDs.map { CKUserIdentityLookupInfo(userRecordID: $0) }
    }

    /// The email address; nil for another kind of lookup info.
    open var emailAddress: String? {
        if case .emailAddress(let address) = values { address } else { nil }
    }

    /// The phone number; nil for another kind of lookup info.
    open var phoneNumber: String? {
        if case .phoneNumber(let number) = values { number } else { nil }
    }

    /// The ID of the user's record; nil for another kind of lookup info.
    open var userRecordID: CKRecord.ID? {
        if case .userRecordID(let recordID) = values { recordID } else { nil }
    }

    /// Returns itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares the address or record ID.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CKUserIdentityLookupInfo)?.values == values
    }

    /// A hash of the address or record ID.
    open override var hash: Int { values.hashValue }

    /// The address or record ID, for logs and debuggers.
    open override var description: String {
        switch values {
        case .emailAddress(let address): "<CKUserIdentityLookupInfo: email=\(address)>"
        case .phoneNumber(let number): "<CKUserIdentityLookupInfo: phone=\(number)>"
        case .userRecordID(let recordID):
            "<CKUserIdentityLookupInfo: userRecordID=\(recordID)>"
        }
    }
}

extension CKUserIdentity {
    /// The archived state of an identity.
    struct Values: Sendable, Hashable, ArchiveValue {
        var userRecordID: CKRecordID?
        var lookup: CKUserIdentityLookupInfo.Values?

        static var kind: ArchiveKind { .userIdentity }
    }
}

extension CKUserIdentity.Values {
    init(from reader: inout BlobReader) throws(BlobError) {
        userRecordID = try reader.optionalRecordID()
        lookup = try reader.optional { reader throws(BlobError) in
            try CKUserIdentityLookupInfo.Values(from: &reader)
        }
    }

    func write(to writer: inout BlobWriter) {
        writer.write(userRecordID) { $0.write($1) }
        writer.write(lookup) { $1.write(to: &$0) }
    }

    /// Whether both are the same person; two of whom nothing is known are not.
    func isSamePerson(as other: CKUserIdentity.Values) -> Bool {
        if let user = userRecordID, let otherUser = other.userRecordID { return user == otherUser }
        return lookup != nil && lookup == other.lookup
    }
}

extension CKUserIdentityLookupInfo {
    /// The archived state of what somebody is looked up by.
    enum Values: Sendable, Hashable {
        case emailAddress(String)
        case phoneNumber(String)
        case userRecordID(CKRecordID)
    }
}

extension CKUserIdentityLookupInfo.Values: ArchiveValue {
    static var kind: ArchiveKind { .userIdentityLookupInfo }

    init(from reader: inout BlobReader) throws(BlobError) {
        switch try reader.byte() {
        case 1: self = .emailAddress(try reader.string())
        case 2: self = .phoneNumber(try reader.string())
        case 3: self = .userRecordID(try reader.recordID())
        default: throw .badValue
        }
    }

    func write(to writer: inout BlobWriter) {
        switch self {
        case .emailAddress(let address):
            writer.write(byte: 1)
            writer.write(address)
        case .phoneNumber(let number):
            writer.write(byte: 2)
            writer.write(number)
        case .userRecordID(let recordID):
            writer.write(byte: 3)
            writer.write(recordID)
        }
    }
}
