// SPDX-License-Identifier: Apache-2.0
import TestSupport
import TidebellPush
import TidebellWire

/// What was made up so far of a walk in which zones are shared.
struct SharingPlan {
    /// The shares that somebody was to make, the newest last.
    var shares: [ShareID] = []
    /// What is to come of what was made up.
    var next: [SharingAction] = []
}

extension Planner {
    /// What is shared is chosen among few, so that there is often something of it.
    private static let roots: [String?] = ["Note-1", "Note-2", "Task-1", "Note-3", nil]
    private static let subscriptions = ["s1", "s2"]

    /// The steps of a walk in which zones are shared.
    mutating func sharedSteps() -> [Step] {
        var steps = sharedPrelude().map { Step(action: .sharing($0)) }
        let count = steps.count + Int.random(in: 40...70, using: &dice)
        while steps.count < count {
            let action = sharedAction()
            steps.append(Step(action: action, death: dice.chance(10) ? death(in: action) : nil))
        }
        return steps
    }

    /// Zones, a tree and its share.
    private mutating func sharedPrelude() -> [SharingAction] {
        var actions: [SharingAction] = []
        for zone in SharedZone.all {
            actions.append(.makeZone(zone.name, by: writer(of: zone.owner)))
        }
        for zone in SharedZone.all.shuffled(using: &dice).prefix(2) {
            let owner = writer(of: zone.owner)
            let tree = [
                NoteEdit(name: "Note-1"), NoteEdit(name: "Note-2", parent: .note("Note-1")),
                NoteEdit(name: "Task-1", parent: .note("Note-2")),
                NoteEdit(name: "Task-2", parent: .note("Task-1")), NoteEdit(name: "Note-3"),
            ]
            actions.append(.put(tree, zone, by: owner))
            let share = ShareID(zone: zone, root: dice.pick(Self.roots))
            actions.append(.share(share, invitations(to: zone), open: .none, by: owner))
            let user = dice.below(users)
            actions.append(.accept(share, by: writer(of: user)))
            sharing.shares.append(share)
            guard share.root != nil, share.root != "Note-3", dice.chance(40) else { continue }
            // Who has two shares of a zone gets and loses one of them.
            let other = ShareID(zone: zone, root: "Note-3")
            actions.append(.share(other, invitations(to: zone), open: .none, by: owner))
            let next = dice.chance(70) ? user : dice.below(users)
            actions.append(.accept(other, by: writer(of: next)))
            sharing.shares.append(other)
        }
        return actions
    }

    private mutating func sharedAction() -> Action {
        if !sharing.next.isEmpty, dice.chance(40) {
            return .sharing(sharing.next.removeFirst())
        }
        switch dice.below(100) {
        case ..<14:
            let interjection: Interjection? =
                dice.chance(20)
                ? Interjection(
                    after: dice.pick(PassStep.allCases), action: .sharing(sharedChange()))
                : nil
            return .notify(meanwhile: interjection)
        case ..<23: return .sharing(.hear(streamer()))
        case ..<31: return .sharing(.sync(streamer(), pages: dice.chance(70) ? .max : 1))
        case ..<33: return .restart
        case ..<35: return .wait(hours: dice.pick([1, 24, 24 * 20, 24 * 35]))
        case ..<37: return .maintain
        case ..<42: return .sharing(.settle(limit: dice.pick([1, 1, 2, 3, 100])))
        case 42: return .backUp
        case 43: return dice.chance(50) ? .restore(backup: dice.below(2)) : .backUp
        default: return .sharing(sharedChange())
        }
    }

    private mutating func sharedChange() -> SharingAction {
        let action = anySharedChange()
        if sharing.next.isEmpty { sharing.next = sequel(of: action) }
        return action
    }

    /// What hardly ever happens by chance: what makes sense after a change.
    private mutating func sequel(of action: SharingAction) -> [SharingAction] {
        let anybody = writer(of: dice.below(users))
        switch action {
        case .share(let share, _, _, _):
            sharing.shares = sharing.shares.suffix(5).filter { $0 != share } + [share]
            return dice.chance(40) ? [.accept(share, by: anybody)] : []
        case .link(let number, .some, let share, _):
            let owner = writer(of: share.zone.owner)
            var next: [SharingAction] = []
            if dice.chance(70) {
                next.append(.acceptLink(number, share, isOld: false, by: anybody))
            }
            if dice.chance(50) {
                let other = writer(of: dice.below(users))
                next.append(.acceptLink(number, share, isOld: false, by: other))
            }
            guard dice.chance(40) else { return next }
            next.append(.link(number, nil, share, by: owner))
            next.append(.acceptLink(number, share, isOld: false, by: anybody))
            return next
        case .block(let user, true, let share, _) where dice.chance(60):
            return [
                .open(
                    dice.pick([.readOnly, .readWrite]), share, by: writer(of: share.zone.owner)),
                .accept(share, by: writer(of: user)),
            ]
        case .letAsk(true, let share, _):
            let owner = writer(of: share.zone.owner)
            let user = dice.pick((0..<users).filter { $0 != share.zone.owner })
            let silent = Invitation(user: user, permission: .none)
            var next: [SharingAction] = []
            if dice.chance(50) { next.append(.set(user, silent, share, by: owner)) }
            next.append(.ask(share, by: writer(of: user)))
            if dice.chance(50) {
                next.append(.link(dice.below(2), .readOnly, share, by: owner))
            }
            if dice.chance(70) {
                next.append(.set(user, invitation(of: user), share, by: owner))
                next.append(.accept(share, by: writer(of: user)))
            }
            return next
        case .stop(let share, let writer) where writer.user == share.zone.owner && dice.chance(60):
            return [
                .put(noteEdits(), share.zone, by: writer),
                .share(share, invitations(to: share.zone), open: .none, by: writer),
                .accept(share, by: anybody),
            ]
        case .put(let edits, let zone, let writer)
        where writer.user == zone.owner && edits.contains { $0.needed != nil } && dice.chance(60):
            // Others may see what has to stay, and not for what.
            let needed = edits.compactMap(\.needed)
            return (0..<users).filter { $0 != zone.owner }.map { user in
                .put(
                    [NoteEdit(name: dice.pick(needed), isRemoved: true)], zone,
                    by: self.writer(of: user))
            }
        case .put(_, let zone, let writer) where writer.user == zone.owner && dice.chance(15):
            // What is below may not have followed when it comes back.
            let (name, parent) = dice.pick([("Note-2", "Note-1"), ("Task-1", "Note-2")])
            return [NoteEdit.Parent.none, .note(parent)].map {
                .put([NoteEdit(name: name, parent: $0)], zone, by: writer)
            }
        case .put(_, let zone, let writer) where writer.user == zone.owner && dice.chance(25):
            // Somebody comes while records may still follow, and what changed was not told.
            let user = dice.below(users)
            let known = sharing.shares.filter { $0.zone == zone }
            let share =
                known.isEmpty
                ? ShareID(zone: zone, root: dice.pick(Self.roots)) : dice.pick(known)
            return [
                .accept(share, by: self.writer(of: user)),
                .put(noteEdits(), zone, by: writer),
            ]
        default: return []
        }
    }

    private mutating func anySharedChange() -> SharingAction {
        let zone = dice.pick(weighted: [
            (5, SharedZone.all[0]), (2, SharedZone.all[1]), (2, SharedZone.all[2]),
        ])
        let made = sharing.shares.filter { $0.zone == zone }
        let share =
            !made.isEmpty && dice.chance(50)
            ? dice.pick(made) : ShareID(zone: zone, root: dice.pick(Self.roots))
        let owner = writer(of: zone.owner)
        let anybody = writer(of: dice.below(users))
        // Administrators manage a share as its owner does, and others try to.
        let manager = dice.chance(80) ? owner : anybody
        switch dice.below(74) {
        case 60...63: return .settle(limit: dice.pick([1, 2, 3]))
        case 64...: return accessChange(share, by: manager, anybody)
        case ..<26: return .put(noteEdits(), zone, by: dice.chance(60) ? owner : anybody)
        case ..<33:
            let permission: SharePermission =
                dice.chance(75) ? .none : dice.pick([.readOnly, .readWrite])
            return .share(
                share, permission == .none ? invitations(to: zone) : [], open: permission,
                by: manager)
        case ..<40:
            let user = dice.pick((0..<users).filter { $0 != zone.owner })
            return .set(
                user, dice.chance(70) ? invitation(of: user) : nil, share, by: manager)
        case ..<43:
            return .open(dice.pick([.none, .readOnly, .readWrite]), share, by: manager)
        case ..<48: return .stop(share, by: dice.chance(40) ? owner : anybody)
        case ..<55: return .accept(share, by: anybody)
        case ..<57:
            return .subscribe(
                dice.pick(Self.subscriptions), dice.chance(80) ? .shared : .private,
                type: dice.chance(50) ? dice.pick(Names.types) : nil, by: anybody)
        case 57:
            return .unsubscribe(dice.pick(Self.subscriptions), .shared, by: anybody)
        case 58: return .removeZone(zone.name, by: dice.chance(70) ? owner : anybody)
        default: return .makeZone(zone.name, by: owner)
        }
    }

    /// Access is asked for, given by one-time URLs, denied or blocked.
    private mutating func accessChange(
        _ share: ShareID, by manager: Writer, _ anybody: Writer
    ) -> SharingAction {
        let number = dice.below(2)
        switch dice.below(20) {
        case ..<4:
            let permission: SharePermission? = dice.pick(weighted: [
                (5, .readWrite), (4, .readOnly), (1, SharePermission.none), (2, nil),
            ])
            return .link(number, permission, share, by: manager)
        case ..<9: return .acceptLink(number, share, isOld: dice.chance(15), by: anybody)
        case ..<12: return .letAsk(dice.chance(80), share, by: manager)
        case ..<16: return .ask(share, by: anybody)
        case ..<17: return .deny(dice.below(users), share, by: manager)
        default: return .block(dice.below(users), dice.chance(60), share, by: manager)
        }
    }

    private mutating func noteEdits() -> [NoteEdit] {
        let most = dice.chance(60) ? 1 : 4
        return dice.some(of: Names.records, atMost: most).map { name in
            guard !dice.chance(22) else { return NoteEdit(name: name, isRemoved: true) }
            let parent: NoteEdit.Parent = dice.pick(weighted: [
                (4, .asBefore), (2, .none), (6, .note(dice.pick(Names.records))),
            ])
            return NoteEdit(
                name: name, parent: parent,
                owner: dice.chance(15) ? dice.pick(Names.records) : nil,
                needed: dice.chance(12) ? dice.pick(Names.records) : nil,
                file: dice.chance(20) ? dice.pick(Names.contents) : nil
            )
        }
    }

    private mutating func invitations(to zone: SharedZone) -> [Invitation] {
        let others = (0..<users).filter { $0 != zone.owner }
        return dice.some(of: others, atMost: others.count).map { invitation(of: $0) }
    }

    private mutating func invitation(of user: Int) -> Invitation {
        Invitation(
            user: user,
            permission: dice.pick(weighted: [(5, .readWrite), (4, .readOnly), (1, .none)]),
            role: dice.chance(20) ? .administrator : .privateUser
        )
    }

    private mutating func writer(of user: Int) -> Writer {
        Writer(
            user: user,
            client: dice.pick(weighted: [
                (4, Names.streamers(of: user)[0]), (4, Names.streamers(of: user)[1]),
                (1, Names.tool(of: user)), (1, nil),
            ])
        )
    }
}
