// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What a caller may do with the records of a zone.
package enum ZoneRights: Sendable, Hashable {
    /// All records are read and written.
    case readWrite
    /// The public database's: what the types of records grant (``PublicRights``).
    case byGrants
    /// Another user's zone: what shares let the caller see and do.
    case shared(SharedRights)

    /// Fails unless shares let a user save something over a record, or delete it.
    ///
    /// - Parameter share: The share whose hierarchy the record is in.
    func checkWriting(over record: StoredRecord, in share: String?) throws {
        switch self {
        case .readWrite, .byGrants: return
        case .shared(let rights): try rights.checkWriting(of: record.name, in: share)
        }
    }
}

/// What a user's grants let them see and do in a zone of somebody else's (SHARE-13).
package struct SharedRights: Sendable, Hashable {
    /// By the name of the share.
    private let grants: [String: ShareGrant]
    /// Tokens of before this position were of other records than the user sees now, or what has
    /// left since is forgotten.
    let tokenFloor: Position

    /// Takes the grants of one user in one zone, those that ended included.
    ///
    /// - Parameter floor: Up to where the histories of what is shared lack something.
    init(_ grants: [ShareGrant], floor: Position = .start) {
        self.grants = Dictionary(
            grants.lazy.filter { !$0.hasEnded }.map { ($0.share, $0) }
        ) { first, _ in first }
        tokenFloor = max(floor, grants.map(\.position).max() ?? .start)
    }

    /// What a share lets somebody do who has its URL, and no grant before they accept.
    init(
        to share: StoredShare, _ permission: SharePermission, isAdministrator: Bool,
        in zone: ZoneKey
    ) {
        self.init([
            // Rights are of the caller's, whoever that is.
            ShareGrant(
                zone: zone, user: UserID(rawValue: 0), share: share.name, root: share.root,
                permission: permission, isAdministrator: isAdministrator, position: .start)
        ])
    }

    /// The shares whose hierarchies the user sees; nil where all of the zone is shared.
    var hierarchies: Set<String>? {
        zoneWide == nil ? Set(grants.keys) : nil
    }

    /// The records that are shared with all below them: what is above them is shared with nobody.
    var roots: Set<String> { zoneWide == nil ? Set(grants.values.compactMap(\.root)) : [] }

    private var zoneWide: ShareGrant? { grants[ShareNames.zoneWideShare] }

    /// Returns what a share lets the user do; nil for none.
    func grant(of share: String) -> ShareGrant? { grants[share] }

    /// Whether the user may write anything at all.
    var isWriter: Bool { grants.values.contains { $0.permission == .readWrite } }

    /// Fails unless the user may write the record, which is in the hierarchy of a share.
    func checkWriting(of name: String, in share: String?) throws {
        guard let grant = zoneWide ?? share.flatMap({ grants[$0] }) else {
            throw WireError.notShared(name)
        }
        guard grant.permission == .readWrite else {
            throw WireError(
                .accessDenied,
                "WRITE operation not permitted: record '\(WireError.shortened(name))' is shared "
                    + "with you to read only"
            )
        }
    }
}

extension ZoneAccess {
    /// What shares allow the caller; nil for the zone's owner, and in the public database.
    var sharedRights: SharedRights? {
        if case .shared(let rights) = rights { rights } else { nil }
    }

    /// The shares whose hierarchies are all that the caller sees; nil where they see all.
    var hierarchies: Set<String>? { sharedRights?.hierarchies }

    /// Returns the names among these of records that the caller may see, if they live.
    func visible(
        _ names: Set<String>, for call: Call, in reader: some SharedRecordReading
    ) throws -> Set<String> {
        guard let hierarchies, let zone else { return names }
        return Set(
            try reader.holders(of: names, in: zone, call.limits).shares
                .filter { hierarchies.contains($0.value) }.keys
        )
    }

    /// Fails where nothing of the zone may be written.
    func requireWriting() throws {
        guard let sharedRights, !sharedRights.isWriter else { return }
        throw WireError(
            .accessDenied,
            "WRITE operation not permitted: zone '\(WireError.shortened(zoneID.zoneName))' is "
                + "shared with you to read only"
        )
    }
}

extension WireError {
    /// A participant's record would be outside of what is shared with them (SAVE-27).
    static func notShared(_ name: String) -> WireError {
        WireError(
            .accessDenied,
            "WRITE operation not permitted: record '\(shortened(name))' is not in a hierarchy that "
                + "is shared with you; give it a parent that is"
        )
    }
}
