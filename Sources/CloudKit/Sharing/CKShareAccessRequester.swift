// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Somebody who asked for access to a share (SHARE-21). Known as `CKShare.AccessRequester`.
///
/// See <https://developer.apple.com/documentation/cloudkit/ckshare/accessrequester>.
// NB: top-level, as all classes here: Foundation on Linux cannot archive nested ones.
public class CKShareAccessRequester: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable: every stored property of this class is a constant.
    let identity: CKUserIdentity.Values

    init(_ identity: CKUserIdentity.Values) {
        self.identity = identity
        super.init()
    }

    /// Reads a requester from an archive; nil when it is damaged.
    public required init?(coder: NSCoder) {
        guard let identity = coder.decodeArchiveBlob(CKUserIdentity.Values.self) else { return nil }
        self.identity = identity
        super.init()
    }

    /// Always true: requesters support secure coding.
    public class var supportsSecureCoding: Bool { true }

    /// Writes the requester to a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(identity)
    }

    /// The user who asks: their record ID, and a verified address if they have one.
    public var userIdentity: CKUserIdentity { CKUserIdentity(identity) }

    /// The lookup info for ``CKFetchShareParticipantsOperation``: the record ID of the user, which
    /// no other user has.
    public var participantLookupInfo: CKUserIdentity.LookupInfo {
        if let userRecordID = identity.userRecordID {
            CKUserIdentityLookupInfo(userRecordID: userRecordID)
        } else {
            CKUserIdentityLookupInfo(identity.lookup ?? .emailAddress(""))
        }
    }

    /// Returns the requester itself, which never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares the identities of the users.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKShareAccessRequester)?.identity == identity
    }

    /// A hash of the identity of the user.
    public override var hash: Int { identity.hashValue }

    /// The user who asks, for logs and debuggers.
    public override var description: String {
        "<CKShareAccessRequester: userIdentity=\(userIdentity)>"
    }
}

/// A user who is blocked from asking for access to a share (SHARE-21). Known as
/// `CKShare.BlockedIdentity`.
///
/// See <https://developer.apple.com/documentation/cloudkit/ckshare/blockedidentity>.
public class CKShareBlockedIdentity: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable: every stored property of this class is a constant.
    let identity: CKUserIdentity.Values

    init(_ identity: CKUserIdentity.Values) {
        self.identity = identity
        super.init()
    }

    /// Reads a blocked identity from an archive; nil when it is damaged.
    public required init?(coder: NSCoder) {
        guard let identity = coder.decodeArchiveBlob(CKUserIdentity.Values.self) else { return nil }
        self.identity = identity
        super.init()
    }

    /// Always true: blocked identities support secure coding.
    public class var supportsSecureCoding: Bool { true }

    /// Writes the blocked identity to a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(identity)
    }

    /// The blocked user.
    public var userIdentity: CKUserIdentity { CKUserIdentity(identity) }

    /// Returns the blocked identity itself, which never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares the identities of the users.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKShareBlockedIdentity)?.identity == identity
    }

    /// A hash of the identity of the user.
    public override var hash: Int { identity.hashValue }

    /// The blocked user, for logs and debuggers.
    public override var description: String {
        "<CKShareBlockedIdentity: userIdentity=\(userIdentity)>"
    }
}
