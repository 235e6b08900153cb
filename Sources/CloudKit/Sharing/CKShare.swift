// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A record that shares a record hierarchy or a whole zone with other users.
///
/// ```swift
/// let share = CKShare(rootRecord: list)
/// share[CKShare.SystemFieldKey.title] = "Groceries"
/// share.addParticipant(try await container.shareParticipant(forUserRecordID: friend))
/// _ = try await database.modifyRecords(saving: [list, share], deleting: [])
/// send(share.url)
/// ```
///
/// A share and its root record are saved together the first time (SHARE-2), in a custom zone of the
/// private database (SHARE-1). A share is always saved with the policy `ifServerRecordUnchanged`,
/// whatever the policy of the operation (SAVE-5).
/// See <https://developer.apple.com/documentation/cloudkit/ckshare>.
open class CKShare: CKRecord, @unchecked Sendable {
    // Sendable: the state is behind a lock.
    private let versions: Locked<Versions>

    /// What it is beside a record, now and before the app changed it.
    private struct Versions: Sendable {
        /// As the app has it.
        var current: Sharing
        /// As it was last fetched or saved, or when it was created; nil when that is not known.
        var saved: Sharing?

        /// What nobody changed yet.
        init(_ sharing: Sharing) { self.init(current: sharing, saved: sharing.copied()) }

        init(current: Sharing, saved: Sharing?) {
            (self.current, self.saved) = (current, saved)
        }
    }

    /// Creates a share of a record and all records below it, with a new UUID as its name.
    public convenience init(rootRecord: CKRecord) {
        self.init(
            rootRecord: rootRecord, shareID: CKRecord.ID(zoneID: rootRecord.recordID.zoneID))
    }

    /// Creates a share of a record and all records below it; sets the record's `share`.
    ///
    /// - Precondition: The share is in the zone of the record.
    public init(rootRecord: CKRecord, shareID: CKRecord.ID) {
        precondition(
            shareID.zoneID == rootRecord.recordID.zoneID,
            "A share must be in the zone of the record that it shares."
        )
        versions = Locked(Versions(Sharing(rootID: rootRecord.recordID)))
        super.init(recordType: CKRecord.SystemType.share, recordID: shareID)
        let reference = CKRecord.Reference(recordID: shareID, action: .none)
        rootRecord.state.withLock { $0.share = reference }
    }

    /// Creates a share of a whole zone (SHARE-3).
    public init(recordZoneID: CKRecordZone.ID) {
        versions = Locked(Versions(Sharing(rootID: nil)))
        super.init(
            recordType: CKRecord.SystemType.share,
            recordID: CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: recordZoneID)
        )
    }

    /// Creates a share of the given state; nothing is checked.
    ///
    /// - Parameter saved: What it was when it was last fetched or saved; nil when that is not
    ///   known.
    init(_ identity: Identity, state: State, sharing: Sharing, saved: Sharing?) {
        versions = Locked(Versions(current: sharing, saved: saved))
        super.init(recordType: CKRecord.SystemType.share, recordID: identity.recordID)
        self.state.current = state
    }

    /// Reads a share, or only its system fields, from an archive.
    ///
    /// If the archive is damaged, the unarchiver fails; if it does not report failures, the result
    /// is an unsaved share that shares nothing.
    public required init(coder: NSCoder) {
        let record = ArchivedValues(coder: coder)
        let sharing = coder.decodeArchiveBlob(Sharing.self, forKey: Self.archiveKey)
        let isShare = record?.identity.recordType == CKRecord.SystemType.share
        // System fields hold what was saved only.
        let saved =
            coder.holdsValue(forKey: Self.savedArchiveKey)
            ? coder.decodeArchiveBlob(Sharing.self, forKey: Self.savedArchiveKey) : sharing
        if !isShare || sharing == nil || saved == nil { coder.failDecoding(of: CKShare.self) }
        versions = Locked(Versions(current: sharing ?? Sharing(), saved: saved))
        let recordID = isShare ? record?.identity.recordID : nil
        super.init(
            recordType: CKRecord.SystemType.share, recordID: recordID ?? CKRecord.ID())
        if isShare, let record { state.current = record.state }
    }

    private static let archiveKey = "TidebellShare"
    private static let savedArchiveKey = "TidebellSavedShare"

    /// Writes the share with all values to a keyed archive.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        let versions = versions.current
        coder.encodeArchiveBlob(versions.current, forKey: Self.archiveKey)
        if let saved = versions.saved {
            coder.encodeArchiveBlob(saved, forKey: Self.savedArchiveKey)
        }
    }

    /// Writes only the system fields to a keyed archive (REC-9), with participants and public
    /// permission as they were last fetched or saved.
    open override func encodeSystemFields(with coder: NSCoder) {
        super.encodeSystemFields(with: coder)
        let versions = versions.current
        coder.encodeArchiveBlob(versions.saved ?? versions.current, forKey: Self.archiveKey)
    }

    /// What anyone with the URL may do; `none` by default.
    ///
    /// Setting another permission removes all participants who have not accepted yet; setting it
    /// back to `none` removes all participants except the owner (SHARE-7).
    open var publicPermission: CKShare.ParticipantPermission {
        get { values.publicPermission }
        set { versions.withLock { $0.current.setPublicPermission(newValue) } }
    }

    /// The URL with which other users accept the share; nil until it is saved (SHARE-6).
    open var url: URL? { values.url }

    /// The owner and all participants that the signed-in user may see (SHARE-12).
    open var participants: [CKShare.Participant] { values.participants }

    /// The owner of the share.
    open var owner: CKShare.Participant {
        values.owner ?? .newOwner()
    }

    /// The signed-in user as a participant; the owner if the share is not saved yet.
    open var currentUserParticipant: CKShare.Participant? {
        let values = values
        return values.participants.first { $0.participantID == values.currentUserParticipantID }
    }

    /// Adds a participant, or updates the participant for the same person (SHARE-8); the owner
    /// cannot be changed.
    ///
    /// - Precondition: The public permission is `none`.
    open func addParticipant(_ participant: CKShare.Participant) {
        requirePrivate("added")
        versions.withLock { versions in
            guard versions.current.owner?.isSamePerson(as: participant) != true else { return }
            versions.current.remove(participant)
            versions.current.participants.append(participant)
        }
    }

    /// Removes a participant; the owner cannot be removed.
    ///
    /// - Precondition: The public permission is `none`.
    open func removeParticipant(_ participant: CKShare.Participant) {
        requirePrivate("removed")
        versions.withLock { $0.current.remove(participant) }
    }

    /// Changes what the share is beside a record.
    func change(_ body: (inout Sharing) -> Void) {
        versions.withLock { body(&$0.current) }
    }

    private func requirePrivate(_ what: String) {
        precondition(
            publicPermission == .none || publicPermission == .unknown,
            "Participants are \(what) only while the public permission of a share is none."
        )
    }

    /// Returns a share with the same identity, values and participants.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let versions = versions.current
        return CKShare(
            archivedValues.identity, state: state.current, sharing: versions.current.copied(),
            saved: versions.saved)
    }

    /// ID, tag and participants as text, for logs and debuggers; no values.
    open override var description: String {
        "<CKShare: recordID=\(recordID), recordChangeTag=\(recordChangeTag ?? "nil"), "
            + "publicPermission=\(publicPermission), participants=\(participants.count)>"
    }

    /// What it is beside a record, as it is now.
    var values: Sharing { versions.current.current }

    /// The share with the given state, and as it was last fetched or saved; nil when that is not
    /// known.
    func ancestor(of state: State) -> CKShare? {
        guard let saved = versions.current.saved else { return nil }
        return CKShare(
            archivedValues.identity, state: state, sharing: saved.copied(), saved: saved)
    }

    /// Takes over what the server returned of a save; what the app changed meanwhile stays.
    func apply(_ values: Sharing, sending sent: Sharing?) {
        versions.withLock { versions in
            let changed = versions.current
            versions = Versions(values)
            guard let sent, !sent.isSame(as: changed) else { return }
            versions.current.publicPermission = changed.publicPermission
            versions.current.participants = changed.participants
            versions.current.requests = changed.requests
            versions.current.adopt(values.participants)
        }
    }
}

extension CKShare {
    /// A participant. Known as `CKShareParticipant`.
    public typealias Participant = CKShareParticipant
    /// The metadata of a share, which is available before it is accepted.
    public typealias Metadata = CKShareMetadata
    /// A user who asked for access. Known as `CKShareAccessRequester`.
    public typealias AccessRequester = CKShareAccessRequester
    /// A user who is blocked from asking for access.
    public typealias BlockedIdentity = CKShareBlockedIdentity
    /// The participant's answer to the invitation.
    public typealias ParticipantAcceptanceStatus = CKShareParticipantAcceptanceStatus
    /// What a participant may do.
    public typealias ParticipantPermission = CKShareParticipantPermission
    /// The role of a participant.
    public typealias ParticipantRole = CKShareParticipantRole
    /// The older form of a participant's role.
    @available(*, deprecated, renamed: "ParticipantRole")
    public typealias ParticipantType = CKShareParticipantType

    /// The fields that CloudKit itself defines for shares (SHARE-24).
    public enum SystemFieldKey {
        /// The title, a string.
        public static let title: CKRecord.FieldKey = "cloudkit.title"
        /// A picture, as data.
        public static let thumbnailImageData: CKRecord.FieldKey = "cloudkit.thumbnailImageData"
        /// The type of the shared content, a uniform type identifier.
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
        var requests = AccessRequests()

        static var kind: ArchiveKind { .share }
    }
}

extension CKShare.Sharing {
    /// A share that is to be: the signed-in user owns it.
    init(rootID: CKRecordID?) {
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
        requests = try CKShare.AccessRequests(from: &reader)
    }

    func write(to writer: inout BlobWriter) {
        writer.write(rootID) { $0.write($1) }
        writer.write(url?.absoluteString)
        writer.write(byte: UInt8(truncatingIfNeeded: publicPermission.rawValue))
        writer.write(currentUserParticipantID)
        writer.write(count: participants.count)
        for participant in participants { participant.values.write(to: &writer) }
        requests.write(to: &writer)
    }

    /// The owner; nil where the server named none.
    var owner: CKShareParticipant? { participants.first { $0.role == .owner } }

    /// Removes whoever is the same person as a participant, unless that is the owner.
    mutating func remove(_ participant: CKShareParticipant) {
        let owner = owner
        participants.removeAll { $0 !== owner && $0.isSamePerson(as: participant) }
    }

    /// Opens the share to whoever has the URL, or closes it, with what that does to participants
    /// (SHARE-7).
    mutating func setPublicPermission(_ permission: CKShareParticipantPermission) {
        let owner = owner
        switch (publicPermission.opensShares, permission) {
        case (false, .readOnly), (false, .readWrite):
            participants.removeAll { $0 !== owner && $0.acceptanceStatus == .pending }
        case (true, .none): participants.removeAll { $0 !== owner }
        default: break
        }
        publicPermission = permission
    }

    /// Takes over who participants are to the server, not what they may do.
    func adopt(_ known: [CKShareParticipant]) {
        let owner = owner
        for participant in participants {
            let same = known.first {
                participant === owner ? $0.role == .owner : $0.isSamePerson(as: participant)
            }
            if let same { participant.adopt(same.values) }
        }
    }

    /// Whether the same people take part in both, in the same way, as far as an app can change it.
    func isSame(as other: Self) -> Bool {
        publicPermission == other.publicPermission && requests == other.requests
            && participants.map(\.values) == other.participants.map(\.values)
    }

    /// The same with participants of its own.
    func copied() -> Self {
        var copy = self
        copy.participants = participants.map { CKShareParticipant($0.values) }
        return copy
    }
}

extension CKShareParticipantPermission {
    /// Whether whoever has the URL may join.
    fileprivate var opensShares: Bool { self == .readOnly || self == .readWrite }
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
