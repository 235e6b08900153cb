// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A participant's answer to the invitation to a share (SHARE-10).
///
/// See <https://developer.apple.com/documentation/cloudkit/ckshare/participantacceptancestatus>.
public enum CKShareParticipantAcceptanceStatus: Int, Sendable {
    case unknown = 0
    case pending = 1
    case accepted = 2
    case removed = 3
}

/// What a participant may do with the shared records (SHARE-10).
///
/// See <https://developer.apple.com/documentation/cloudkit/ckshare/participantpermission>.
public enum CKShareParticipantPermission: Int, Sendable {
    case unknown = 0
    case none = 1
    case readOnly = 2
    case readWrite = 3
}

/// The role of a participant (SHARE-9).
///
/// See <https://developer.apple.com/documentation/cloudkit/ckshare/participantrole>.
public enum CKShareParticipantRole: Int, Sendable {
    case unknown = 0
    case owner = 1
    /// Manages participants as the owner does.
    case administrator = 2
    case privateUser = 3
    /// Joined by the URL of a share with a public permission (SHARE-7).
    case publicUser = 4
}

/// The older form of a participant's role.
@available(*, deprecated, renamed: "CKShareParticipantRole")
public enum CKShareParticipantType: Int, Sendable {
    case unknown = 0
    case owner = 1
    case privateUser = 3
    case publicUser = 4
}

/// Somebody who takes part in a share. Known as `CKShare.Participant`.
///
/// See <https://developer.apple.com/documentation/cloudkit/ckshare/participant>.
// NB: top-level, as all classes here: Foundation on Linux cannot archive nested ones.
open class CKShareParticipant: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable: the state is behind a lock.
    private let state: Locked<Values>

    /// The ID of a participant, unique in the share.
    public typealias ID = String

    /// The older name of `CKShare.ParticipantAcceptanceStatus`.
    @available(*, deprecated, renamed: "CKShare.ParticipantAcceptanceStatus")
    public typealias AcceptanceStatus = CKShareParticipantAcceptanceStatus
    /// The older name of `CKShare.ParticipantPermission`.
    @available(*, deprecated, renamed: "CKShare.ParticipantPermission")
    public typealias Permission = CKShareParticipantPermission
    /// The older name of `CKShare.ParticipantRole`.
    @available(*, deprecated, renamed: "CKShare.ParticipantRole")
    public typealias Role = CKShareParticipantRole
    /// The older name of `CKShare.ParticipantType`.
    @available(*, deprecated, renamed: "CKShare.ParticipantRole")
    public typealias ParticipantType = CKShareParticipantType

    init(_ values: Values) {
        state = Locked(values)
        super.init()
    }

    /// Reads a participant from an archive; nil when it is damaged.
    public required init?(coder: NSCoder) {
        guard let values = coder.decodeArchiveBlob(Values.self) else { return nil }
        state = Locked(values)
        super.init()
    }

    /// Always true: participants support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the participant to a keyed archive.
    open func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(values)
    }

    /// The identity of the participant.
    open var userIdentity: CKUserIdentity { CKUserIdentity(values.identity) }

    /// The role; a new participant is a private user (SHARE-9).
    open var role: CKShare.ParticipantRole {
        get { values.role }
        set { state.withLock { $0.role = newValue } }
    }

    /// The older form of ``role``.
    @available(*, deprecated, renamed: "role")
    open var type: CKShare.ParticipantType {
        get { CKShareParticipantType(rawValue: role.rawValue) ?? .privateUser }
        set { role = CKShareParticipantRole(rawValue: newValue.rawValue) ?? .unknown }
    }

    /// The answer to the invitation; pending until the participant accepts.
    open var acceptanceStatus: CKShare.ParticipantAcceptanceStatus { values.acceptanceStatus }

    /// What the participant may do; a new participant may read (SHARE-10).
    open var permission: CKShare.ParticipantPermission {
        get { values.permission }
        set { state.withLock { $0.permission = newValue } }
    }

    /// The ID of the participant, unique in the share; a new one until the share is saved.
    public final var participantID: CKShare.Participant.ID { values.participantID }

    /// When the participant was added: nil, because the server does not store it.
    open var dateAddedToShare: Date? { nil }

    /// Whether the participant was added after asking for access (SHARE-21).
    open var isApprovedRequester: Bool { values.isApprovedRequester }

    /// Returns a participant without an identity: the first user who opens the one-time URL and
    /// accepts (SHARE-20).
    ///
    /// ``CKShare/oneTimeURL(for:)`` returns that URL once a share was saved with them. Until
    /// somebody accepts, their identity is empty.
    /// See <https://developer.apple.com/documentation/cloudkit/ckshare/participant/onetimeurlparticipant()>.
    // NB: Apple's returns Self, which only a subclass could tell from this.
    open class func oneTimeURLParticipant() -> CKShareParticipant {
        CKShareParticipant(Values(identity: CKUserIdentity.Values(), usesOneTimeURL: true))
    }

    /// Returns a participant of the same state.
    open func copy(with zone: NSZone? = nil) -> Any { CKShareParticipant(values) }

    /// Whether both are the same person, whatever their permissions: by participant ID, by user
    /// record ID or by lookup info.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CKShareParticipant)?.isSamePerson(as: self) ?? false
    }

    /// The same for all participants, because two with nothing in common but the user's ID are
    /// equal.
    open override var hash: Int { 0 }

    /// The identity, permission and acceptance status, for logs and debuggers.
    open override var description: String {
        "<CKShareParticipant: userIdentity=\(userIdentity), role=\(role), "
            + "permission=\(permission), acceptanceStatus=\(acceptanceStatus)>"
    }

    /// The state as it is now.
    var values: Values { state.current }

    /// Whether both are the same person (SHARE-8).
    func isSamePerson(as other: CKShareParticipant) -> Bool {
        self === other || values.isSamePerson(as: other.values)
    }

    /// Takes over who somebody is to the server; what they may do stays.
    func adopt(_ known: Values) {
        state.withLock { state in
            (state.participantID, state.isKnown) = (known.participantID, known.isKnown)
            (state.identity, state.acceptanceStatus) = (known.identity, known.acceptanceStatus)
            (state.usesOneTimeURL, state.oneTimeURL) = (known.usesOneTimeURL, known.oneTimeURL)
            state.isApprovedRequester = known.isApprovedRequester
        }
    }
}

extension CKShareParticipant {
    /// The archived state of a participant.
    struct Values: Sendable, Hashable, ArchiveValue {
        var participantID = NewIdentifier.make()
        /// Whether the server gave the ID.
        var isKnown = false
        var identity: CKUserIdentity.Values
        var role = CKShareParticipantRole.privateUser
        var permission = CKShareParticipantPermission.readOnly
        var acceptanceStatus = CKShareParticipantAcceptanceStatus.pending
        var isApprovedRequester = false
        /// Whether whoever opens a URL first becomes this participant.
        var usesOneTimeURL = false
        /// That URL; nil until a share was saved with them, and for who does not manage it.
        var oneTimeURL: URL?

        static var kind: ArchiveKind { .shareParticipant }
    }
}

extension CKShareParticipant.Values {
    init(from reader: inout BlobReader) throws(BlobError) {
        participantID = try reader.string()
        isKnown = try reader.bool()
        identity = try CKUserIdentity.Values(from: &reader)
        guard let role = CKShareParticipantRole(rawValue: Int(try reader.byte())),
            let permission = CKShareParticipantPermission(rawValue: Int(try reader.byte())),
            let status = CKShareParticipantAcceptanceStatus(rawValue: Int(try reader.byte()))
        else { throw .badValue }
        (self.role, self.permission, acceptanceStatus) = (role, permission, status)
        isApprovedRequester = try reader.bool()
        usesOneTimeURL = try reader.bool()
        oneTimeURL = try reader.optionalString().flatMap { URL(string: $0) }
    }

    func write(to writer: inout BlobWriter) {
        writer.write(participantID)
        writer.write(isKnown)
        identity.write(to: &writer)
        writer.write(byte: UInt8(truncatingIfNeeded: role.rawValue))
        writer.write(byte: UInt8(truncatingIfNeeded: permission.rawValue))
        writer.write(byte: UInt8(truncatingIfNeeded: acceptanceStatus.rawValue))
        writer.write(isApprovedRequester)
        writer.write(usesOneTimeURL)
        writer.write(oneTimeURL?.absoluteString)
    }

    /// Whether both are the same person (SHARE-8).
    func isSamePerson(as other: CKShareParticipant.Values) -> Bool {
        participantID == other.participantID || identity.isSamePerson(as: other.identity)
    }
}
