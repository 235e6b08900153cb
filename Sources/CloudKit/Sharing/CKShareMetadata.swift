// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// What is known of a share before it is accepted (SHARE-18). Known as `CKShare.Metadata`.
///
/// Comes from a share's URL, by ``CKFetchShareMetadataOperation`` or
/// ``CKContainer/shareMetadata(for:)``, and goes to ``CKAcceptSharesOperation``.
/// See <https://developer.apple.com/documentation/cloudkit/ckshare/metadata>.
// NB: top-level, as all classes here: Foundation on Linux cannot archive nested ones.
open class CKShareMetadata: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable: constants, of which the records have locks of their own.
    let values: Values

    /// The container of the share.
    open var containerIdentifier: String { values.containerIdentifier }

    /// The share, with the participants that the user may see.
    open var share: CKShare { values.share }

    /// The ID of the root record; nil for a zone-wide share.
    open var hierarchicalRootRecordID: CKRecord.ID? { values.rootID }

    /// The root record; nil for a zone-wide share, and if the operation did not ask for it.
    open var rootRecord: CKRecord? { values.rootRecord }

    /// The owner of the share.
    open var ownerIdentity: CKUserIdentity { CKUserIdentity(values.owner) }

    /// The role of the user.
    open var participantRole: CKShare.ParticipantRole { values.role }

    /// The user's answer to the invitation.
    open var participantStatus: CKShare.ParticipantAcceptanceStatus { values.acceptanceStatus }

    /// What the user may do with the shared records.
    open var participantPermission: CKShare.ParticipantPermission { values.permission }

    /// The older form of ``participantRole``.
    @available(*, deprecated, renamed: "participantRole")
    open var participantType: CKShare.ParticipantType {
        CKShareParticipantType(rawValue: participantRole.rawValue) ?? .privateUser
    }

    /// The ID of the root record; for a zone-wide share, the ID of the share.
    @available(*, deprecated, renamed: "hierarchicalRootRecordID")
    open var rootRecordID: CKRecord.ID { values.rootID ?? values.share.recordID }

    /// Creates what a server returned.
    init(_ values: Values) {
        self.values = values
        super.init()
    }

    /// Reads metadata from an archive; nil when it is damaged.
    public required init?(coder: NSCoder) {
        guard let frame = coder.decodeArchiveBlob(Frame.self),
            let values = Values(frame)
        else { return nil }
        self.values = values
        super.init()
    }

    /// Always true: metadata support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the metadata to a keyed archive.
    open func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(Frame(values))
    }

    /// Returns the same metadata with copies of the records.
    open func copy(with zone: NSZone? = nil) -> Any {
        var copy = values
        if let share = values.share.copy() as? CKShare { copy.share = share }
        copy.rootRecord = values.rootRecord?.copy() as? CKRecord
        return CKShareMetadata(copy)
    }

    /// Compares all parts of the metadata by value.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKShareMetadata else { return false }
        return self === other || values.isSame(as: other.values)
    }

    /// A hash of the parts that cannot change.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(values.containerIdentifier)
        hasher.combine(values.share.recordID)
        hasher.combine(values.role)
        hasher.combine(values.acceptanceStatus)
        hasher.combine(values.permission)
        return hasher.finalize()
    }

    /// The share and the role of the user, for logs and debuggers.
    open override var description: String {
        "<CKShareMetadata: containerIdentifier=\(containerIdentifier), share=\(share), "
            + "participantRole=\(participantRole), participantStatus=\(participantStatus), "
            + "participantPermission=\(participantPermission)>"
    }
}

extension CKShareMetadata {
    /// What metadata consists of.
    struct Values: Sendable {
        var containerIdentifier: String
        var share: CKShare
        var rootID: CKRecordID?
        var rootRecord: CKRecord?
        var owner: CKUserIdentity.Values
        var role: CKShareParticipantRole
        var acceptanceStatus: CKShareParticipantAcceptanceStatus
        var permission: CKShareParticipantPermission
        /// By which it was found, and is accepted: the share's own, or a one-time URL.
        var invitationURL: URL?
    }

    /// The archived state of metadata.
    struct Frame: ArchiveValue {
        var containerIdentifier: String
        var share: CKRecord.ArchivedValues
        var sharing: CKShare.Sharing
        var rootID: CKRecordID?
        var rootRecord: CKRecord.ArchivedValues?
        var owner: CKUserIdentity.Values
        /// The role of the user.
        var own: CKShareParticipant.Values
        var invitationURL: URL?

        static var kind: ArchiveKind { .shareMetadata }
    }
}

extension CKShareMetadata.Frame {
    fileprivate init(_ values: CKShareMetadata.Values) {
        containerIdentifier = values.containerIdentifier
        share = values.share.archivedValues
        sharing = values.share.values
        rootID = values.rootID
        rootRecord = values.rootRecord?.archivedValues
        owner = values.owner
        own = CKShareParticipant.Values(
            participantID: "", identity: CKUserIdentity.Values(), role: values.role,
            permission: values.permission, acceptanceStatus: values.acceptanceStatus
        )
        invitationURL = values.invitationURL
    }

    init(from reader: inout BlobReader) throws(BlobError) {
        containerIdentifier = try reader.string()
        share = try CKRecord.ArchivedValues(from: &reader)
        sharing = try CKShare.Sharing(from: &reader)
        rootID = try reader.optionalRecordID()
        rootRecord = try reader.optional { reader throws(BlobError) in
            try CKRecord.ArchivedValues(from: &reader)
        }
        owner = try CKUserIdentity.Values(from: &reader)
        own = try CKShareParticipant.Values(from: &reader)
        invitationURL = try reader.optionalString().flatMap { URL(string: $0) }
    }

    func write(to writer: inout BlobWriter) {
        writer.write(containerIdentifier)
        share.write(to: &writer)
        sharing.write(to: &writer)
        writer.write(rootID) { $0.write($1) }
        writer.write(rootRecord) { $1.write(to: &$0) }
        owner.write(to: &writer)
        own.write(to: &writer)
        writer.write(invitationURL?.absoluteString)
    }
}

extension CKRecord {
    /// Whether both are the same record with the same values.
    fileprivate func hasSameState(as other: CKRecord) -> Bool {
        archivedValues.identity == other.archivedValues.identity
            && state.current == other.state.current
    }
}

extension CKShareMetadata.Values {
    /// Whether both say the same.
    fileprivate func isSame(as other: Self) -> Bool {
        containerIdentifier == other.containerIdentifier && rootID == other.rootID
            && owner == other.owner && role == other.role
            && acceptanceStatus == other.acceptanceStatus && permission == other.permission
            && share.hasSameState(as: other.share) && share.values.isSame(as: other.share.values)
            && share.url == other.share.url && invitationURL == other.invitationURL
            && rootRecord.map { root in
                other.rootRecord.map { root.hasSameState(as: $0) } ?? false
            } ?? (other.rootRecord == nil)
    }

    /// Nil where the share is another record.
    fileprivate init?(_ frame: CKShareMetadata.Frame) {
        guard frame.share.identity.recordType == CKRecord.SystemType.share else { return nil }
        self.init(
            containerIdentifier: frame.containerIdentifier,
            share: CKShare(
                frame.share.identity, state: frame.share.state, sharing: frame.sharing,
                saved: frame.sharing.copied()),
            rootID: frame.rootID,
            rootRecord: frame.rootRecord.map { CKRecord($0.identity, state: $0.state) },
            owner: frame.owner, role: frame.own.role,
            acceptanceStatus: frame.own.acceptanceStatus, permission: frame.own.permission,
            invitationURL: frame.invitationURL
        )
    }
}
