// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLReading {
    package func shares(_ names: Set<String>, in zone: ZoneKey) throws -> [StoredShare] {
        guard !names.isEmpty else { return [] }
        return try connection.rows(
            StoredShare.named, SQLList(names), zone, read: StoredShare.init)
    }

    package func shares(ofRoots roots: Set<String>, in zone: ZoneKey) throws -> [StoredShare] {
        guard !roots.isEmpty else { return [] }
        return try connection.rows(
            StoredShare.withRoots, SQLList(roots), zone, read: StoredShare.init)
    }

    package func shares(
        in zone: ZoneKey, after name: String, limit: Int
    ) throws -> [StoredShare] {
        try connection.rows(StoredShare.ofZone, zone, name, limit, read: StoredShare.init)
    }

    package func shareRoots(
        in zone: ZoneKey, after name: String, limit: Int
    ) throws -> [(share: String, root: String)] {
        try connection.rows(StoredShare.rootsOfZone, zone, name, limit) {
            ($0.text(0), $0.text(1))
        }
    }

    package func share(shortGUID: String) throws -> LocatedShare? {
        try connection.first(LocatedShare.withURL, shortGUID, read: LocatedShare.init)
    }

    package func grants(
        in zone: ZoneKey, of share: String?, after user: UserID?, limit: Int
    ) throws -> [ShareGrant] {
        let after = user ?? UserID(rawValue: 0)
        var grants =
            if let share {
                try connection.rows(
                    ShareGrant.ofShare, zone, share, after, limit, read: ShareGrant.init)
            } else {
                try connection.rows(ShareGrant.ofZone, zone, after, limit, read: ShareGrant.init)
            }
        // The last user may have more of the zone.
        if share == nil, grants.count == limit, let last = grants.last {
            let known = Set(grants.filter { $0.user == last.user }.map(\.share))
            grants += try connection.rows(
                ShareGrant.ofUser, zone, last.user, read: ShareGrant.init
            ).filter { !known.contains($0.share) && !$0.hasEnded }
        }
        return grants
    }

    package func grantedZones(
        to user: UserID, among ids: Set<GrantedZoneID>?
    ) throws -> [GrantedZone] {
        let found =
            if let ids {
                try connection.rows(
                    GrantedZone.wanted, SQLList(ids), user, read: GrantedZone.init)
            } else {
                try connection.rows(GrantedZone.ofUser, user, read: GrantedZone.init)
            }
        var zones: [GrantedZone] = []
        for row in found {
            if let last = zones.last, last.zone.key == row.zone.key {
                zones[zones.count - 1].grants += row.grants
                zones[zones.count - 1].floor = max(last.floor, row.floor)
            } else {
                zones.append(row)
            }
        }
        return zones.filter { $0.grants.contains { !$0.hasEnded } }
    }
}

extension SQLList {
    /// A list of pairs of owner and zone name.
    init(_ ids: Set<GrantedZoneID>) {
        self.init(columns: [.texts(ids.map(\.owner)), .texts(ids.map(\.zone))])
    }
}

extension StoredShare {
    fileprivate static let columns = """
        share.name, share.root, share.short_guid, share.public_permission, share.participants,
        share.access_requests, (
            SELECT '[' || ifnull(group_concat(share_outsider.outsider), '') || ']'
            FROM share_outsider
            WHERE share_outsider.zone = share.zone AND share_outsider.share = share.name
        )
        """
    fileprivate static let named = """
        SELECT \(columns) FROM json_each(?) AS wanted CROSS JOIN share
        WHERE share.zone = ? AND share.name = \(SQLList.text("wanted.value"))
        """
    fileprivate static let withRoots = """
        SELECT \(columns) FROM json_each(?) AS wanted CROSS JOIN share
        WHERE share.zone = ? AND share.root = \(SQLList.text("wanted.value"))
        """

    fileprivate static let ofZone = """
        SELECT \(columns) FROM share WHERE zone = ? AND name > ? ORDER BY name LIMIT ?
        """
    fileprivate static let rootsOfZone = """
        SELECT name, root FROM share
        WHERE zone = ? AND root <> '' AND name > ? ORDER BY name LIMIT ?
        """

    fileprivate init(_ columns: Columns) throws { try self.init(columns, from: 0) }

    fileprivate init(_ columns: Columns, from first: Int32) throws {
        let root = columns.text(first + 1)
        self.init(
            name: columns.text(first), root: root.isEmpty ? nil : root,
            shortGUID: columns.text(first + 2), publicPermission: try columns.value(first + 3),
            participants: try Self.participants(encoded: columns.bytes(first + 4)),
            allowsAccessRequests: columns.bool(first + 5),
            outsiders: try [StoredOutsider](encoded: columns.bytes(first + 6))
        )
    }
}

extension LocatedShare {
    private static let shareColumn = StoredDatabase.columnCount + StoredZone.columnCount
    fileprivate static let withURL = """
        SELECT \(StoredDatabase.columns), \(StoredZone.columns), \(StoredShare.columns)
        FROM share CROSS JOIN zone ON zone.key = share.zone AND zone.deletion IS NULL
            CROSS JOIN database ON database.id = zone.database
        WHERE share.short_guid = ?
        """

    fileprivate init(_ columns: Columns) throws {
        self.init(
            database: try StoredDatabase(columns, from: 0),
            zone: try StoredZone(columns, from: StoredDatabase.columnCount),
            share: try StoredShare(columns, from: Self.shareColumn)
        )
    }
}

extension ShareGrant {
    fileprivate static let columnCount: Int32 = 8
    fileprivate static let columns = """
        share_grant.zone, share_grant.user, share_grant.share, share_grant.root,
        share_grant.permission, share_grant.administrator, share_grant.position,
        share_grant.ended
        """
    /// The rows of a large zone that was deleted go later.
    private static let isLiving = """
        EXISTS (SELECT 1 FROM zone WHERE zone.key = share_grant.zone AND zone.deletion IS NULL)
        """
    fileprivate static let ofZone = """
        SELECT \(columns) FROM share_grant
        WHERE zone = ? AND user > ? AND ended = 0 AND \(isLiving) ORDER BY user, share LIMIT ?
        """
    fileprivate static let ofShare = """
        SELECT \(columns) FROM share_grant INDEXED BY share_grant_share
        WHERE zone = ? AND share = ? AND user > ? AND ended = 0 AND \(isLiving)
        ORDER BY user LIMIT ?
        """
    fileprivate static let ofUser =
        "SELECT \(columns) FROM share_grant WHERE zone = ? AND user = ?"

    fileprivate init(_ columns: Columns) throws { try self.init(columns, from: 0) }

    fileprivate init(_ columns: Columns, from first: Int32) throws {
        let root = columns.text(first + 3)
        self.init(
            zone: try columns.value(first), user: try columns.value(first + 1),
            share: columns.text(first + 2), root: root.isEmpty ? nil : root,
            permission: try columns.value(first + 4), isAdministrator: columns.bool(first + 5),
            position: try columns.value(first + 6), hasEnded: columns.bool(first + 7)
        )
    }
}

extension GrantedZone {
    private static let columns = """
        \(StoredDatabase.columns), \(StoredZone.columns), \(StoredUser.columns),
        \(ShareGrant.columns), ifnull((
            SELECT share.floor FROM share WHERE share.zone = share_grant.zone
                AND share.name = share_grant.share AND share_grant.ended = 0
        ), 0)
        """
    fileprivate static let wanted = """
        SELECT \(columns) FROM json_each(?1) AS wanted
            CROSS JOIN user AS caller ON caller.id = ?2
            CROSS JOIN user ON user.record_name = \(SQLList.text("wanted.value ->> 0"))
                AND user.container = caller.container AND user.environment = caller.environment
            CROSS JOIN database ON database.owner = user.id
                AND database.container = user.container
                AND database.environment = user.environment AND database.scope = 'private'
            CROSS JOIN zone ON zone.database = database.id
                AND zone.name = \(SQLList.text("wanted.value ->> 1")) AND zone.deletion IS NULL
            CROSS JOIN share_grant ON share_grant.zone = zone.key AND share_grant.user = caller.id
        ORDER BY zone.key
        """
    fileprivate static let ofUser = """
        SELECT \(columns) FROM share_grant INDEXED BY share_grant_user
            CROSS JOIN zone ON zone.key = share_grant.zone AND zone.deletion IS NULL
            CROSS JOIN database ON database.id = zone.database
            CROSS JOIN user ON user.id = database.owner
        WHERE share_grant.user = ? ORDER BY user.record_name, zone.name
        """

    /// Reads a row, which has one grant.
    fileprivate init(_ columns: Columns) throws {
        let zone = StoredDatabase.columnCount
        let user = zone + StoredZone.columnCount
        self.init(
            owner: try StoredUser(columns, from: user),
            database: try StoredDatabase(columns, from: 0),
            zone: try StoredZone(columns, from: zone),
            grants: [try ShareGrant(columns, from: user + StoredUser.columnCount)],
            floor: try columns.value(user + StoredUser.columnCount + ShareGrant.columnCount)
        )
    }
}
