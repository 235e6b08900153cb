// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Who sees what of whose zones: parents are walked anew at every look, and nothing that follows
/// from anything else is kept.
struct SharingModel {
    struct Note {
        var version: Int
        var parent: String?
        /// The note that takes this one along.
        var owner: String?
        var file: String?
    }

    struct Member {
        var permission: SharePermission
        var role: ParticipantRole
        var hasAccepted: Bool
    }

    struct Share {
        /// Nil shares the zone.
        var root: String?
        var publicPermission = SharePermission.none
        /// All but the owner.
        var members: [Int: Member] = [:]
    }

    struct Zone {
        var notes: [String: Note] = [:]
        var shares: [String: Share] = [:]
    }

    /// A change that a pass of the pipeline may still have to take to participants.
    struct News {
        var zone: SharedZone
        var origin: String?
        /// The shares of which it changed something.
        var shares: Set<String>
    }

    let users: Int
    var zones: [SharedZone: Zone] = [:]
    var news: [News] = []
    /// The shares that users had at any moment since ``news`` begins.
    var held: [Int: [SharedZone: Set<String>]] = [:]
    /// The records that users could see at any moment, by zone.
    var seen: [Int: [SharedZone: Set<String>]] = [:]
    private var versions = 0

    init(users: Int) { self.users = users }

    /// Returns the number of the next save of a note.
    mutating func nextVersion() -> Int {
        versions += 1
        return versions
    }

    // MARK: Who sees what

    /// The shares that a user who is not the owner has accepted, with what these let them do.
    func grants(of user: Int, in zone: SharedZone) -> [String: Member] {
        (zones[zone]?.shares ?? [:]).compactMapValues { share in
            share.members[user].flatMap { $0.hasAccepted && $0.permission != .none ? $0 : nil }
        }
    }

    /// Whether the zone is one of those that a user has in either database.
    func has(_ zone: SharedZone, _ user: Int) -> Bool {
        zones[zone] != nil && (user == zone.owner || !grants(of: user, in: zone).isEmpty)
    }

    /// The records of a zone that a user sees, each as it looks to them.
    func visible(to user: Int, in zone: SharedZone) -> [String: String] {
        guard let content = zones[zone] else { return [:] }
        let grants = grants(of: user, in: zone)
        var visible: [String: String] = [:]
        for name in content.names
        where user == zone.owner || content.share(of: name).map({ grants[$0] != nil }) == true {
            visible[name] = content.look(of: name, to: user, owner: zone.owner)
        }
        return visible
    }

    /// How a share looks to who may open its URL; nil for those to whom it is closed.
    func opened(_ share: ShareID, by user: Int) -> String? {
        guard let zone = zones[share.zone], let found = zone.shares[share.name] else { return nil }
        let permission = found.members[user]?.permission ?? found.publicPermission
        guard user == share.zone.owner || permission != .none else { return nil }
        return zone.look(of: share.name, to: user, owner: share.zone.owner)
    }

    /// Whether a user may write anything at all in a zone that they have.
    func isWriter(_ user: Int, in zone: SharedZone) -> Bool {
        user == zone.owner
            || grants(of: user, in: zone).values.contains { $0.permission == .readWrite }
    }

    // MARK: What happened since

    /// Notes a change of a zone: what users may have seen of it, and what they may hear of it.
    mutating func note(_ zone: SharedZone, before: Zone?, origin: String?, saving: String?) {
        let (old, new) = (before ?? Zone(), zones[zone] ?? Zone())
        var changed = Set([saving].compactMap(\.self))
        for name in Set(old.names).union(new.names) {
            let looks = [old, new].map { state in
                state.names.contains(name)
                    ? state.look(of: name, to: zone.owner, owner: zone.owner) : nil
            }
            let shares = [old.share(of: name), new.share(of: name)]
            guard looks[0] != looks[1] || shares[0] != shares[1] else { continue }
            changed.formUnion(shares.compactMap(\.self))
        }
        if !changed.isEmpty { news.append(News(zone: zone, origin: origin, shares: changed)) }
        noteAccess(to: zone)
    }

    private mutating func noteAccess(to zone: SharedZone) {
        for user in 0..<users {
            held[user, default: [:]][zone, default: []].formUnion(grants(of: user, in: zone).keys)
            seen[user, default: [:]][zone, default: []].formUnion(visible(to: user, in: zone).keys)
        }
    }

    /// How often a user may hear of a zone since the outbox was empty, of changes from a client.
    func hearable(by user: Int, of zone: SharedZone, from origin: String?) -> Int {
        news.count { news in
            news.zone == zone && news.origin == origin
                && !news.shares.isDisjoint(with: held[user]?[zone] ?? [])
        }
    }

    /// Begins anew: nothing is in the outbox.
    mutating func forgetNews() {
        news = []
        held = [:]
        for zone in SharedZone.all { noteAccess(to: zone) }
    }
}

extension SharingModel.Zone {
    /// The names of all records, those of shares included.
    var names: [String] { Array(notes.keys) + Array(shares.keys) }

    /// The share that a record is in: found by going up, from parent to parent.
    func share(of name: String) -> String? {
        if shares[name] != nil { return name }
        if shares[ShareNames.zoneWideShare] != nil { return ShareNames.zoneWideShare }
        return hierarchy(of: name)
    }

    /// The share of the first record on the way up that is the root of one.
    func hierarchy(of name: String?) -> String? {
        var visited: Set<String> = []
        var current = name
        while let name = current, visited.insert(name).inserted {
            if let share = shares.first(where: { $0.value.root == name }) { return share.key }
            current = notes[name]?.parent
        }
        return nil
    }

    /// How a record looks to a user who sees it.
    func look(of name: String, to user: Int, owner: Int) -> String {
        if let note = notes[name] {
            let root = shares.first { $0.value.root == name }?.key
            // Nobody but the owner sees what is above a root.
            let parent = user == owner || root == nil ? note.parent : nil
            return RecordLook.note(note.version, parent: parent, file: note.file, share: root)
        }
        guard let share = shares[name] else { return "" }
        let seesAll = user == owner || share.members[user].map { $0.role != .publicUser } == true
        let members = share.members.filter { seesAll || $0.key == user }.map { user, member in
            RecordLook.member(
                user, member.permission, member.role, member.hasAccepted ? .accepted : .pending)
        }
        let ownerMember = RecordLook.member(owner, .readWrite, .owner, .accepted)
        return RecordLook.share(share.publicPermission, members + [ownerMember])
    }
}

/// How records look, in one line: of the model, and of what the server answers.
enum RecordLook {
    static func note(_ version: Int, parent: String?, file: String?, share: String?) -> String {
        "save \(version) below \(parent ?? "-") with \(file ?? "-"), shared as \(share ?? "-")"
    }

    static func share(_ permission: SharePermission, _ members: [String]) -> String {
        "open to \(permission), with \(members.sorted().joined(separator: ", "))"
    }

    static func member(
        _ user: Int?, _ permission: SharePermission, _ role: ParticipantRole,
        _ acceptance: ParticipantAcceptance
    ) -> String {
        "\(user.map { "user \($0)" } ?? "a stranger") \(permission) \(role) \(acceptance)"
    }
}
