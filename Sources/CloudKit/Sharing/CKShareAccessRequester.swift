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

    /// True: requesters may stand in archives that require secure coding.
    public class var supportsSecureCoding: Bool { true }

    /// Writes the requester to a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(identity)
    }

    /// Who asks: the ID of their record, and a verified address of theirs, if they have one.
    public var userIdentity: CKUserIdentity { CKUserIdentity(identity) }

    /// What ``CKFetchShareParticipantsOperation`` makes a participant of who asks: the ID of their
    /// record, which is nobody else's.
    public var participantLookupInfo: CKUserIdentity.LookupInfo {
        if let userRecordID = identity.userRecordID {
            CKUserIdentityLookupInfo(userRecordID: userRecordID)
        } else {
            CKUserIdentityLookupInfo(identity.lookup ?? .emailAddress(""))
        }
    }

    /// Returns the requester itself, which never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares what is known of who asks.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKShareAccessRequester)?.identity == identity
    }

    /// A hash of what is known of who asks.
    public override var hash: Int { identity.hashValue }

    /// Who asks, for logs and debuggers.
    public override var description: String {
        "<CKShareAccessRequester: userIdentity=\(userIdentity)>"
    }
}

/// Somebody who may not ask for access to a share (SHARE-21). Known as `CKShare.BlockedIdentity`.
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

    /// True: blocked identities may stand in archives that require secure coding.
    public class var supportsSecureCoding: Bool { true }

    /// Writes the blocked identity to a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(identity)
    }

    /// Who is blocked.
    public var userIdentity: CKUserIdentity { CKUserIdentity(identity) }

    /// Returns the blocked identity itself, which never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares what is known of who is blocked.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKShareBlockedIdentity)?.identity == identity
    }

    /// A hash of what is known of who is blocked.
    public override var hash: Int { identity.hashValue }

    /// Who is blocked, for logs and debuggers.
    public override var description: String {
        "<CKShareBlockedIdentity: userIdentity=\(userIdentity)>"
    }
}
