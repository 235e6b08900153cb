// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension SharingModel {
    /// Does what a change does; returns whether the server must do it, too.
    ///
    /// - Parameter found: What whoever changes something finds now, where that is less than what
    ///   they may see: records follow what is above them little by little.
    mutating func apply(_ action: SharingAction, finding found: Set<String>? = nil) -> Bool {
        switch action {
        case .makeZone(let name, let writer):
            let zone = SharedZone(owner: writer.user, name: name)
            if zones[zone] == nil { zones[zone] = Zone() }
            return true
        case .removeZone(let name, let writer):
            let zone = SharedZone(owner: writer.user, name: name)
            guard zones[zone] != nil else { return false }
            return change(zone, by: writer) { $0 = nil }
        case .put(let edits, let zone, let writer):
            return put(edits, in: zone, by: writer, finding: found)
        case .share(let share, let invited, let permission, let writer):
            return make(share, invited, permission, by: writer)
        case .set(let user, let invitation, let share, let writer):
            guard manages(share, writer.user) else { return false }
            return set(user, to: invitation, of: share, by: writer)
        case .open(let permission, let share, let writer):
            guard manages(share, writer.user) else { return false }
            return save(share, by: writer) { $0.open(to: permission) }
        case .stop(let share, let writer): return stop(share, by: writer)
        case .accept(let share, let writer): return accept(share, through: nil, by: writer)
        default: return applyAccess(action)
        }
    }

    private mutating func applyAccess(_ action: SharingAction) -> Bool {
        switch action {
        case .link(let number, let permission, let share, let writer):
            guard manages(share, writer.user) else { return false }
            return link(number, permission, of: share, by: writer)
        case .letAsk(let isAskable, let share, let writer):
            guard manages(share, writer.user) else { return false }
            return save(share, by: writer) { $0.isAskable = isAskable }
        case .deny(let user, let share, let writer):
            guard manages(share, writer.user) else { return false }
            return save(share, by: writer) { $0.requests.remove(user) }
        case .block(let user, let isBlocked, let share, let writer):
            guard manages(share, writer.user), !isBlocked || user != share.zone.owner else {
                return false
            }
            return save(share, by: writer) { share in
                guard isBlocked else {
                    share.blocked.remove(user)
                    return
                }
                share.blocked.insert(user)
                share.requests.remove(user)
                share.members[user] = nil
            }
        case .acceptLink(let number, let share, isOld: let isOld, let writer):
            // What was told before another one was made leads nowhere.
            return !isOld && accept(share, through: number, by: writer)
        case .ask(let share, let writer): return ask(for: share, by: writer)
        default: return true
        }
    }

    /// Changes a zone; always true.
    ///
    /// - Parameter saving: The share whose record is saved, whether or not it looks another.
    private mutating func change(
        _ zone: SharedZone, by writer: Writer, saving: String? = nil,
        _ body: (inout Zone?) -> Void
    ) -> Bool {
        let before = zones[zone]
        body(&zones[zone])
        note(zone, before: before, origin: writer.client, saving: saving)
        return true
    }

    /// Changes who takes part in a share; always true.
    private mutating func save(
        _ share: ShareID, by writer: Writer, _ body: (inout Share) -> Void
    ) -> Bool {
        change(share.zone, by: writer, saving: share.name) { zone in
            guard var changed = zone?.shares[share.name] else { return }
            let asking = changed.requests
            body(&changed)
            // Nobody has to ask for what is open to them.
            for user in asking where changed.members[user].map({ $0.permission != .none }) == true {
                changed.members[user]?.isApproved = true
            }
            let members = changed.members
            changed.requests = changed.requests.filter { user in
                changed.publicPermission == .none
                    && members[user].map { $0.permission == .none } ?? true
            }
            zone?.shares[share.name] = changed
        }
    }

    /// Whether a user changes who takes part: the owner, and administrators.
    private func manages(_ share: ShareID, _ user: Int) -> Bool {
        guard zones[share.zone]?.shares[share.name] != nil else { return false }
        return user == share.zone.owner
            || grants(of: user, in: share.zone)[share.name]?.role == .administrator
    }

    // MARK: Shares

    private mutating func make(
        _ share: ShareID, _ invited: [Invitation], _ permission: SharePermission, by writer: Writer
    ) -> Bool {
        guard writer.user == share.zone.owner, let zone = zones[share.zone],
            permission == .none || invited.isEmpty
        else { return false }
        if let root = share.root {
            // A record is in one share: neither itself, nor what is above or below it, is in another.
            let others = zone.shares.values.compactMap(\.root)
            guard zone.notes[root] != nil, zone.shares[ShareNames.zoneWideShare] == nil,
                zone.hierarchy(of: root) == nil, !others.contains(where: { zone.isBelow($0, root) })
            else { return false }
        } else {
            guard zone.shares.isEmpty else { return false }
        }
        var made = Share(root: share.root, publicPermission: permission)
        for invitation in invited { made.members[invitation.user] = Member(invitation) }
        return change(share.zone, by: writer, saving: share.name) {
            $0?.shares[share.name] = made
        }
    }

    private mutating func set(
        _ user: Int, to invitation: Invitation?, of share: ShareID, by writer: Writer
    ) -> Bool {
        guard let found = zones[share.zone]?.shares[share.name] else { return false }
        let isPublic = found.publicPermission != .none
        let known = found.members[user]
        switch (known, invitation) {
        case (nil, .some), (.some, nil):
            // Those who joined by the URL come and go by themselves.
            guard !isPublic || known?.role == .publicUser else { return false }
        default: break
        }
        if known == nil, invitation != nil, found.blocked.contains(user) { return false }
        return save(share, by: writer) { share in
            guard known?.role != .publicUser else { return }
            share.members[user] = invitation.map {
                var member = Member($0)
                member.hasAccepted = known?.hasAccepted ?? false
                member.link = known?.link
                member.isApproved = known?.isApproved ?? false
                return member
            }
        }
    }

    /// Makes a one-time URL, gives who has it other rights, or takes them back.
    private mutating func link(
        _ number: Int, _ permission: SharePermission?, of share: ShareID, by writer: Writer
    ) -> Bool {
        guard let found = zones[share.zone]?.shares[share.name] else { return false }
        let user = found.members.first { $0.value.link == number }?.key
        let isKnown = user != nil || found.strangers[number] != nil
        guard found.publicPermission == .none || isKnown == (permission != nil) else {
            return false
        }
        return save(share, by: writer) { share in
            guard let permission else {
                if let user { share.members[user] = nil }
                share.strangers[number] = nil
                return
            }
            if let user {
                share.members[user]?.permission = permission
            } else {
                share.strangers[number] = Member(
                    permission: permission, role: .privateUser, hasAccepted: false, link: number)
            }
        }
    }

    private mutating func stop(_ share: ShareID, by writer: Writer) -> Bool {
        guard has(share.zone, writer.user) else { return false }
        guard writer.user != share.zone.owner else {
            guard zones[share.zone]?.shares[share.name] != nil else { return true }
            return change(share.zone, by: writer, saving: share.name) {
                $0?.shares[share.name] = nil
            }
        }
        guard grants(of: writer.user, in: share.zone)[share.name] != nil else { return true }
        return change(share.zone, by: writer, saving: share.name) {
            $0?.shares[share.name]?.members[writer.user] = nil
        }
    }

    private mutating func accept(
        _ share: ShareID, through link: Int?, by writer: Writer
    ) -> Bool {
        let user = writer.user
        guard opened(share, by: user, through: link) != nil,
            var found = self.share(share, openedBy: user, through: link)
        else { return false }
        guard user != share.zone.owner, found.members[user]?.hasAccepted != true else {
            return true
        }
        let joining = Member(
            permission: found.publicPermission, role: .publicUser, hasAccepted: true)
        found.members[user, default: joining].hasAccepted = true
        found.requests.remove(user)
        return change(share.zone, by: writer, saving: share.name) {
            $0?.shares[share.name] = found
        }
    }

    /// Somebody asks for access; whoever is blocked does not notice.
    private mutating func ask(for share: ShareID, by writer: Writer) -> Bool {
        let user = writer.user
        guard let found = zones[share.zone]?.shares[share.name] else { return false }
        guard user != share.zone.owner else { return true }
        if let known = found.members[user], known.permission != .none { return known.hasAccepted }
        guard found.publicPermission == .none, found.isAskable else { return false }
        guard !found.blocked.contains(user), !found.requests.contains(user) else { return true }
        return change(share.zone, by: writer, saving: share.name) {
            $0?.shares[share.name]?.requests.insert(user)
        }
    }

    // MARK: Notes

    private mutating func put(
        _ edits: [NoteEdit], in id: SharedZone, by writer: Writer, finding found: Set<String>?
    ) -> Bool {
        guard has(id, writer.user), let old = zones[id] else { return false }
        let visible = found ?? Set(visible(to: writer.user, in: id).keys)
        let grants = grants(of: writer.user, in: id)
        let isOwner = writer.user == id.owner
        func mayWrite(_ name: String, in zone: Zone) -> Bool {
            isOwner
                || zone.share(of: name).map { grants[$0]?.permission == .readWrite } == true
        }
        var new = old
        var removed: Set<String> = []
        let saved = Set(edits.filter { !$0.isRemoved }.map(\.name))
        for edit in edits {
            let known = old.notes[edit.name]
            let isSeen = known != nil && visible.contains(edit.name)
            // Nobody deletes, or saves over, what does not exist for them.
            if known != nil, !isSeen, !edit.isRemoved { return false }
            if isSeen, !mayWrite(edit.name, in: old) { return false }
            guard !edit.isRemoved else {
                if isSeen { removed.insert(edit.name) }
                continue
            }
            var note = Note(
                version: nextVersion(), parent: known?.parent, owner: edit.owner,
                needed: edit.needed, file: edit.file)
            switch edit.parent {
            case .asBefore: break
            case .none:
                // Who does not see what is above a root leaves it there.
                let isRoot = old.shares.values.contains { $0.root == edit.name }
                if isOwner || !isRoot { note.parent = nil }
            case .note(let parent):
                // Nobody finds out what is above a root by naming it.
                let isRoot = old.shares.values.contains { $0.root == edit.name }
                guard
                    parent == known?.parent && (isOwner || !isRoot) || saved.contains(parent)
                        || visible.contains(parent)
                else { return false }
                note.parent = parent
            }
            if let needed = edit.needed, !saved.contains(needed), !visible.contains(needed) {
                return false
            }
            new.notes[edit.name] = note
        }
        let roots = Set(old.shares.values.compactMap(\.root))
        let gone = removed.union(old.takenAlong(by: removed, keeping: saved))
        // Only the owner ends a share.
        guard isOwner || gone.isDisjoint(with: roots) else { return false }
        for name in gone { new.notes[name] = nil }
        new.shares = new.shares.filter { $0.value.root.map { !gone.contains($0) } ?? true }
        // A parent goes only with its children, and what is needed with what needs it.
        let held = new.notes.values.flatMap { [$0.parent, $0.needed].compactMap(\.self) }
        guard gone.isDisjoint(with: held) else { return false }
        // A root is in no other hierarchy.
        for (name, share) in new.shares {
            guard let root = share.root else { continue }
            let above = new.hierarchy(of: new.notes[root]?.parent)
            guard above == nil || above == name else { return false }
        }
        guard isOwner || saved.allSatisfy({ mayWrite($0, in: new) }) else { return false }
        return change(id, by: writer) { $0 = new }
    }
}

extension SharingModel.Member {
    /// Somebody who has not answered yet.
    fileprivate init(_ invitation: Invitation) {
        self.init(permission: invitation.permission, role: invitation.role, hasAccepted: false)
    }
}

extension SharingModel.Share {
    /// Changes the public permission.
    fileprivate mutating func open(to permission: SharePermission) {
        if publicPermission == .none, permission != .none {
            members = members.filter(\.value.hasAccepted)
            strangers = [:]
        }
        if publicPermission != .none, permission == .none { members = [:] }
        publicPermission = permission
        for (user, member) in members where member.role == .publicUser {
            members[user]?.permission = permission
        }
    }
}

extension SharingModel.Zone {
    /// Whether a note hangs below another one.
    fileprivate func isBelow(_ name: String, _ top: String) -> Bool {
        var visited: Set<String> = []
        var current = notes[name]?.parent
        while let name = current, visited.insert(name).inserted {
            if name == top { return true }
            current = notes[name]?.parent
        }
        return false
    }

    /// What deleted notes own, with what that owns.
    fileprivate func takenAlong(by removed: Set<String>, keeping saved: Set<String>) -> Set<String>
    {
        var taken: Set<String> = []
        while true {
            let next = notes.filter { name, note in
                !saved.contains(name) && !removed.contains(name) && !taken.contains(name)
                    && note.owner.map { removed.contains($0) || taken.contains($0) } == true
            }
            if next.isEmpty { return taken }
            taken.formUnion(next.keys)
        }
    }
}
