// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A record that shares another one with all below it, or a whole zone, with other users.
///
/// ```swift
/// let share = CKShare(rootRecord: list)
/// share[CKShare.SystemFieldKey.title] = "Groceries"
/// share.addParticipant(try await container.shareParticipant(forUserRecordID: friend))
/// _ = try await database.modifyRecords(saving: [list, share], deleting: [])
/// send(share.url)
/// ```
///
/// A share and its root are saved together the first time (SHARE-2), in a custom zone of the
/// private database (SHARE-1), and the share as if under `ifServerRecordUnchanged` whatever
/// the policy of the operation (SAVE-5).
/// See <https://developer.apple.com/documentation/cloudkit/ckshare>.
open class CKShare: CKRecord, @unchecked Sendable {
    // Sendable: the state is behind a lock.
    private let sharing: Locked<Sharing>

    /// Creates a share of a record and all below it, under a fresh UUID.
    public convenience init(rootRecord: CKRecord) {
        self.init(
            rootRecord: rootRecord, shareID: CKRecord.ID(zoneID: rootRecord.recordID.zoneID))
    }

    /// Creates a share of a record and all below it; the record names the share from now on.
    ///
    /// - Precondition: The share is in the zone of the record.
    public init(rootRecord: CKRecord, shareID: CKRecord.ID) {
        precondition(
            shareID.zoneID == rootRecord.recordID.zoneID,
            "A share must be in the zone of the record that it shares."
        )
        sharing = Locked(Sharing(rootID: rootRecord.recordID))
        super.init(recordType: CKRecord.SystemType.share, recordID: shareID)
        let reference = CKRecord.Reference(recordID: shareID, action: .none)
        rootRecord.state.withLock { $0.share = reference }
    }

    /// Creates a share of a whole zone (SHARE-3).
    public init(recordZoneID: CKRecordZone.ID) {
        sharing = Locked(Sharing())
        super.init(
            recordType: CKRecord.SystemType.share,
            recordID: CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: recordZoneID)
        )
    }

    /// Creates a share of the given state; nothing is checked.
    init(_ identity: Identity, state: State, sharing: Sharing) {
        self.sharing = Locked(sharing)
        super.init(recordType: CKRecord.SystemType.share, recordID: identity.recordID)
        self.state.current = state
    }

    /// Reads a share, or only its system fields, from an archive; nil when it is damaged.
    public required init?(coder: NSCoder) {
        let sharing = coder.decodeArchiveBlob(Sharing.self, forKey: Self.archiveKey)
        self.sharing = Locked(sharing ?? Sharing())
        super.init(coder: coder)
        guard recordType == CKRecord.SystemType.share, sharing != nil else { return nil }
    }

    private static let archiveKey = "TidebellShare"

    /// Writes the share with all values to a keyed archive.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encodeArchiveBlob(values, forKey: Self.archiveKey)
    }

    /// Writes only what the server gave to a keyed archive (REC-9).
    open override func encodeSystemFields(with coder: NSCoder) {
        super.encodeSystemFields(with: coder)
        coder.encodeArchiveBlob(values, forKey: Self.archiveKey)
    }

    /// What everybody may do who has the URL; none, unless the owner opens the share (SHARE-7).
    open var publicPermission: CKShare.ParticipantPermission {
        get { values.publicPermission }
        set { sharing.withLock { $0.publicPermission = newValue } }
    }

    /// Where others accept the share; nil until it is saved (SHARE-6).
    open var url: URL? { values.url }

    /// The owner and all participants whom the signed-in user may see (SHARE-12).
    open var participants: [CKShare.Participant] { values.participants }

    /// The owner of what is shared.
    open var owner: CKShare.Participant {
        values.participants.first { $0.role == .owner } ?? .newOwner()
    }

    /// The participant that the signed-in user is; the owner of a share that is not saved.
    open var currentUserParticipant: CKShare.Participant? {
        let values = values
        return values.participants.first { $0.participantID == values.currentUserParticipantID }
    }

    /// Adds a participant, or updates the one of the same person (SHARE-8).
    ///
    /// - Precondition: The public permission is `none`.
    open func addParticipant(_ participant: CKShare.Participant) {
        requirePrivate("added")
        sharing.withLock { sharing in
            sharing.participants.removeAll {
                $0.role != .owner && $0.values.isSamePerson(as: participant.values)
            }
            sharing.participants.append(participant)
        }
    }

    /// Removes a participant; the owner stays.
    ///
    /// - Precondition: The public permission is `none`.
    open func removeParticipant(_ participant: CKShare.Participant) {
        requirePrivate("removed")
        sharing.withLock { sharing in
            sharing.participants.removeAll {
                $0.role != .owner && $0.values.isSamePerson(as: participant.values)
            }
        }
    }

    private func requirePrivate(_ what: String) {
        precondition(
            publicPermission == .none || publicPermission == .unknown,
            "Participants are \(what) only while the public permission of a share is none."
        )
    }

    /// Returns a share with the same identity, values and participants.
    open override func copy(with zone: NSZone? = nil) -> Any {
        CKShare(archivedValues.identity, state: state.current, sharing: values.copied())
    }

    /// ID, tag and participants as text, for logs and debuggers; no values.
    open override var description: String {
        "<CKShare: recordID=\(recordID), recordChangeTag=\(recordChangeTag ?? "nil"), "
            + "publicPermission=\(publicPermission), participants=\(participants.count)>"
    }

    /// What it is beside a record, as it is now.
    var values: Sharing { sharing.current }

    /// Takes over what the server returned of a save; what the app changed meanwhile stays.
    func apply(_ values: Sharing, sending sent: Sharing?) {
        sharing.withLock { sharing in
            let isUnchanged = sent.map { $0.isSame(as: sharing) } ?? true
            let (permission, participants) = (sharing.publicPermission, sharing.participants)
            sharing = values
            if !isUnchanged {
                (sharing.publicPermission, sharing.participants) = (permission, participants)
            }
        }
    }
}

extension CKShare {
    /// A participant. Known as `CKShareParticipant`.
    public typealias Participant = CKShareParticipant
    /// What is known of a share before it is accepted.
    public typealias Metadata = CKShareMetadata
    /// What a participant answered.
    public typealias ParticipantAcceptanceStatus = CKShareParticipantAcceptanceStatus
    /// What a participant may do.
    public typealias ParticipantPermission = CKShareParticipantPermission
    /// What a participant is to a share.
    public typealias ParticipantRole = CKShareParticipantRole
    /// The older form of a participant's role.
    @available(*, deprecated, renamed: "ParticipantRole")
    public typealias ParticipantType = CKShareParticipantType

    /// The fields that CloudKit itself defines for shares (SHARE-24).
    public enum SystemFieldKey {
        /// The title, a text.
        public static let title: CKRecord.FieldKey = "cloudkit.title"
        /// A picture, as data.
        public static let thumbnailImageData: CKRecord.FieldKey = "cloudkit.thumbnailImageData"
        /// What kind of thing is shared, a uniform type identifier.
        public static let shareType: CKRecord.FieldKey = "cloudkit.type"
    }

    /// What a share is beside a record.
    struct Sharing: Sendable, ArchiveValue {
        /// The record that a new share is of; nil of a zone-wide share, and of a fetched one.
        var rootID: CKRecordID?
        var url: URL?
        var publicPermission = CKShareParticipantPermission.none
        var participants: [CKShareParticipant] = []
        var currentUserParticipantID: String?

        static var kind: ArchiveKind { .share }
    }
}

extension CKShare.Sharing {
    /// A share that is to be: the signed-in user owns it.
    init(rootID: CKRecordID? = nil) {
        let owner = CKShareParticipant.newOwner()
        self.rootID = rootID
        participants = [owner]
        currentUserParticipantID = owner.participantID
    }

    init(from reader: inout BlobReader) throws(BlobError) {
        rootID = try reader.optionalRecordID()
        url = try reader.optionalString().flatMap { URL(string: $0) }
        guard let permission = CKShareParticipantPermission(rawValue: Int(try reader.byte()))
        else { throw .badValue }
        publicPermission = permission
        currentUserParticipantID = try reader.optionalString()
        participants = []
        for _ in 0..<(try reader.count()) {
            participants.append(CKShareParticipant(try CKShareParticipant.Values(from: &reader)))
        }
    }

    func write(to writer: inout BlobWriter) {
        writer.write(rootID) { $0.write($1) }
        writer.write(url?.absoluteString)
        writer.write(byte: UInt8(truncatingIfNeeded: publicPermission.rawValue))
        writer.write(currentUserParticipantID)
        writer.write(count: participants.count)
        for participant in participants { participant.values.write(to: &writer) }
    }

    /// Whether the same people take part in both, in the same way, as far as an app can change it.
    func isSame(as other: Self) -> Bool {
        publicPermission == other.publicPermission
            && participants.map(\.values) == other.participants.map(\.values)
    }

    /// The same with participants of its own.
    func copied() -> Self {
        var copy = self
        copy.participants = participants.map { CKShareParticipant($0.values) }
        return copy
    }
}

extension CKShareParticipant {
    /// The owner of a share that is not saved yet: whoever is signed in.
    static func newOwner() -> CKShareParticipant {
        CKShareParticipant(
            Values(
                identity: CKUserIdentity.Values(
                    userRecordID: CKRecordID(
                        unchecked: CKCurrentUserDefaultName, zoneID: .default)),
                role: .owner, permission: .readWrite, acceptanceStatus: .accepted
            )
        )
    }
}
