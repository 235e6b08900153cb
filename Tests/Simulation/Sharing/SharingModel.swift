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
        /// The note that has to be there as long as this one refers to it.
        var needed: String?
        var file: String?
    }

    struct Member {
        var permission: SharePermission
        var role: ParticipantRole
        var hasAccepted: Bool
        /// The number of the one-time URL that was made for them.
        var link: Int?
        /// Whether they had asked when they were given a permission.
        var isApproved = false
    }

    struct Share {
        /// Nil shares the zone.
        var root: String?
        var publicPermission = SharePermission.none
        /// All but the owner.
        var members: [Int: Member] = [:]
        /// Those who are whoever opens their one-time URL first, by its number.
        var strangers: [Int: Member] = [:]
        /// Whether anybody may ask for access.
        var isAskable = false
        /// Users who asked and got no answer yet.
        var requests: Set<Int> = []
        /// Users who can neither take part nor ask.
        var blocked: Set<Int> = []
    }

    struct Zone {
        var notes: [String: Note] = [:]
        var shares: [String: Share] = [:]
    }

    /// A change that a pass of the pipeline may still have to take to participants.
    struct News {
        var zone: SharedZone
        var origin: String?
        /// Those who had one of the shares of which it changed something, or got one by it: who
        /// comes later hears nothing of it.
        var hearers: Set<Int>
    }

    let users: Int
    var zones: [SharedZone: Zone] = [:]
    var news: [News] = []
    /// The shares that users had at any moment since ``news`` begins.
    var held: [Int: [SharedZone: Set<String>]] = [:]
    /// The records that users could see at any moment, by zone.
    var seen: [Int: [SharedZone: Set<String>]] = [:]
    /// The same since a moment of the walk's choice.
    var seenLately: [Int: [SharedZone: Set<String>]] = [:]
    /// The records that were in their share all the time since their zone was settled, with all
    /// above them: whoever may see them sees them at once.
    private(set) var firm: [SharedZone: Set<String>] = [:]
    /// The shares of which something changed since their zone was settled.
    private var moving: [SharedZone: Set<String>] = [:]
    /// The shares that records were in since their zone was settled.
    private var trails: [SharedZone: [String: Set<String>]] = [:]
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
        zones[zone]?.grants(of: user) ?? [:]
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

    /// How a share looks to who may open its URL, or a one-time URL of it; nil for those to whom it
    /// is closed.
    func opened(_ share: ShareID, by user: Int, through link: Int? = nil) -> String? {
        guard let found = self.share(share, openedBy: user, through: link) else { return nil }
        let permission = found.members[user]?.permission ?? found.publicPermission
        guard user == share.zone.owner || permission != .none && !found.blocked.contains(user)
        else { return nil }
        return found.look(to: user, owner: share.zone.owner)
    }

    /// What a share is for who opens a URL of it: by a one-time URL that nobody accepted yet, they
    /// are the stranger for whom it was made. Nil where the URL leads nowhere.
    func share(_ id: ShareID, openedBy user: Int, through link: Int?) -> Share? {
        guard var found = zones[id.zone]?.shares[id.name] else { return nil }
        guard let link else { return found }
        guard let stranger = found.strangers[link] else {
            return found.members.values.contains { $0.link == link } ? found : nil
        }
        guard user != id.zone.owner, !found.blocked.contains(user) else { return found }
        if let known = found.members[user] {
            // Who has an invitation of their own is to accept that.
            return known.hasAccepted || known.permission == .none ? found : nil
        }
        found.strangers[link] = nil
        found.members[user] = stranger
        return found
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
            // What went out of sight with something above it has left for good when it is saved or
            // deleted: a device may still have it.
            trails[zone, default: [:]][name, default: []].formUnion(shares.compactMap(\.self))
            changed.formUnion(trails[zone]?[name] ?? [])
        }
        if !changed.isEmpty {
            let hearers = (0..<users).filter { user in
                [old, new].contains { !changed.isDisjoint(with: $0.grants(of: user).keys) }
            }
            news.append(News(zone: zone, origin: origin, hearers: Set(hearers)))
        }
        moving[zone, default: []].formUnion(changed)
        noteFirm(in: zone, old, new)
        noteAccess(to: zone)
    }

    private mutating func noteFirm(in zone: SharedZone, _ old: Zone, _ new: Zone) {
        let before = firm[zone] ?? []
        var kept = before.filter { name in
            old.share(of: name) != nil && old.share(of: name) == new.share(of: name)
        }
        // What is new is there with its save.
        kept.formUnion(new.names.filter { !old.names.contains($0) && new.share(of: $0) != nil })
        firm[zone] = kept.filter { name in
            new.shares[name] != nil || new.path(of: name).allSatisfy(kept.contains)
        }
    }

    /// Notes that all records of a zone have followed what is above them.
    mutating func noteSettled(_ zone: SharedZone) {
        let content = zones[zone] ?? Zone()
        firm[zone] = Set(content.names.filter { content.share(of: $0) != nil })
        moving[zone] = nil
        trails[zone] = Dictionary(
            uniqueKeysWithValues: content.names.map { name in
                (name, Set([content.share(of: name)].compactMap(\.self)))
            })
    }

    /// Notes a step in which records follow: participants may hear of it who have a share of which
    /// something changed since the zone was settled.
    mutating func noteSettling(_ zone: SharedZone) {
        let hearers = (0..<users).filter { user in
            !grants(of: user, in: zone).keys.allSatisfy { moving[zone]?.contains($0) != true }
        }
        news.append(News(zone: zone, origin: nil, hearers: Set(hearers)))
        noteAccess(to: zone)
    }

    /// Becomes what it was at an earlier moment, but for what users saw since, and the numbers of
    /// saves: none comes twice.
    mutating func comeBack(to moment: SharingModel) {
        let (known, count) = (seen, versions)
        self = moment
        versions = max(versions, count)
        for (user, zones) in known {
            for (zone, names) in zones {
                seen[user, default: [:]][zone, default: []].formUnion(names)
            }
        }
    }

    private mutating func noteAccess(to zone: SharedZone) {
        for user in 0..<users {
            held[user, default: [:]][zone, default: []].formUnion(grants(of: user, in: zone).keys)
            let visible = visible(to: user, in: zone).keys
            seen[user, default: [:]][zone, default: []].formUnion(visible)
            seenLately[user, default: [:]][zone, default: []].formUnion(visible)
        }
    }

    /// How often a user may hear of a zone since the outbox was empty, of changes from a client.
    func hearable(by user: Int, of zone: SharedZone, from origin: String?) -> Int {
        news.count { news in
            news.zone == zone && news.origin == origin && news.hearers.contains(user)
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

    /// The shares that a user has accepted, with what these let them do.
    func grants(of user: Int) -> [String: SharingModel.Member] {
        shares.compactMapValues { share in
            share.members[user].flatMap { $0.hasAccepted && $0.permission != .none ? $0 : nil }
        }
    }

    /// The share that a record is in: found by going up, from parent to parent.
    func share(of name: String) -> String? {
        if shares[name] != nil { return name }
        if shares[ShareNames.zoneWideShare] != nil { return ShareNames.zoneWideShare }
        return hierarchy(of: name)
    }

    /// The share of the first record on the way up that is the root of one.
    func hierarchy(of name: String?) -> String? {
        guard let top = path(of: name).last else { return nil }
        return shares.first { $0.value.root == top }?.key
    }

    /// A note and what is above it, up to the root of a share.
    func path(of name: String?) -> [String] {
        var path: [String] = []
        var current = name
        while let name = current, !path.contains(name) {
            path.append(name)
            guard !shares.values.contains(where: { $0.root == name }) else { break }
            current = notes[name]?.parent
        }
        return path
    }

    /// How a record looks to a user who sees it.
    func look(of name: String, to user: Int, owner: Int) -> String {
        if let note = notes[name] {
            let root = shares.first { $0.value.root == name }?.key
            // Nobody but the owner sees what is above a root.
            let parent = user == owner || root == nil ? note.parent : nil
            return RecordLook.note(note.version, parent: parent, file: note.file, share: root)
        }
        return shares[name]?.look(to: user, owner: owner) ?? ""
    }
}

extension SharingModel.Share {
    /// How the share looks to a user who sees it, or may open its URL.
    func look(to user: Int, owner: Int) -> String {
        let own = members[user]
        let seesAll = user == owner || own.map { $0.role != .publicUser } == true
        let manages = user == owner || own?.role == .administrator && own?.hasAccepted == true
        func look(_ user: Int?, _ member: SharingModel.Member) -> String {
            RecordLook.member(
                user, member.permission, member.role, member.hasAccepted ? .accepted : .pending,
                hasURL: manages && member.link != nil, isApproved: member.isApproved)
        }
        let known = members.filter { seesAll || $0.key == user }.map { look($0.key, $0.value) }
        let others = seesAll ? strangers.values.map { look(nil, $0) } : []
        let ownerMember = RecordLook.member(owner, .readWrite, .owner, .accepted)
        return RecordLook.share(
            publicPermission, known + others + [ownerMember],
            requests: manages ? RecordLook.requests(isAskable, requests, blocked) : nil)
    }
}

/// How records look, in one line: of the model, and of what the server answers.
enum RecordLook {
    static func note(_ version: Int, parent: String?, file: String?, share: String?) -> String {
        "save \(version) below \(parent ?? "-") with \(file ?? "-"), shared as \(share ?? "-")"
    }

    static func share(
        _ permission: SharePermission, _ members: [String], requests: String?
    ) -> String {
        "open to \(permission), with \(members.sorted().joined(separator: ", "))"
            + (requests.map { "; \($0)" } ?? "")
    }

    /// What those see who manage a share.
    static func requests(_ isAskable: Bool, _ waiting: Set<Int>, _ blocked: Set<Int>) -> String {
        "\(isAskable ? "may be" : "may not be") asked for, \(waiting.sorted()) wait, "
            + "\(blocked.sorted()) are blocked"
    }

    static func member(
        _ user: Int?, _ permission: SharePermission, _ role: ParticipantRole,
        _ acceptance: ParticipantAcceptance, hasURL: Bool = false, isApproved: Bool = false
    ) -> String {
        "\(user.map { "user \($0)" } ?? "a stranger") \(permission) \(role) \(acceptance)"
            + (hasURL ? " by a URL" : "") + (isApproved ? " who asked" : "")
    }
}
