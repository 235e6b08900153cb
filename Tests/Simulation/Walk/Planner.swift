// SPDX-License-Identifier: Apache-2.0
import TestSupport
import TidebellCore
import TidebellPush
import TidebellWire

/// Makes up steps.
struct Planner {
    var dice: SeededGenerator
    let users: Int
    /// What is planned where zones are shared.
    var sharing = SharingPlan()

    init(seed: UInt64) {
        dice = SeededGenerator(seed: seed)
        users = Int.random(in: 2...4, using: &dice)
    }

    /// Steps without which little would happen: zones, and some subscriptions.
    mutating func prelude() -> [Step] {
        var steps: [Step] = []
        for user in 0..<users {
            let writer = Writer(user: user, client: dice.pick(Names.streamers(of: user)))
            steps.append(Step(action: .createZones(writer, Names.customZones)))
            for _ in 0...Int.random(in: 0...2, using: &dice) {
                steps.append(Step(action: subscription(by: writer)))
            }
        }
        return steps
    }

    /// Makes up any step.
    mutating func step() -> Step {
        let action = action()
        return Step(action: action, death: dice.chance(10) ? death(in: action) : nil)
    }

    private enum Kind {
        case modify, createZones, deleteZones, subscribe, unsubscribe, notify, connect, disconnect
        case read, acknowledge, poll, signIn, setBadge, restart, wait, maintain
    }

    private mutating func action() -> Action {
        let kind = dice.pick(weighted: [
            (30, Kind.modify), (4, .createZones), (3, .deleteZones), (9, .subscribe),
            (3, .unsubscribe), (16, .notify), (5, .connect), (2, .disconnect), (12, .read),
            (4, .acknowledge), (8, .poll), (1, .signIn), (2, .setBadge), (2, .restart), (2, .wait),
            (2, .maintain),
        ])
        switch kind {
        case .modify, .createZones, .deleteZones, .subscribe, .unsubscribe: return change(kind)
        case .notify: return .notify(meanwhile: dice.chance(15) ? interjection() : nil)
        case .connect: return .connect(streamer())
        case .disconnect: return .disconnect(streamer())
        case .read:
            return .read(
                streamer(), limit: dice.chance(70) ? .max : dice.pick([1, 2, 5]),
                forgets: dice.chance(15)
            )
        case .acknowledge: return .acknowledge(streamer())
        case .poll: return .poll(Names.page(of: user()), breaksOff: dice.chance(25))
        case .signIn: return .signIn(streamer(), user: user())
        case .setBadge: return .setBadge(writer(), Int.random(in: 0...9, using: &dice))
        case .restart: return .restart
        case .wait: return .wait(hours: dice.pick([1, 24, 24 * 20]))
        case .maintain: return .maintain
        }
    }

    private mutating func change(_ kind: Kind) -> Action {
        let writer = writer()
        switch kind {
        case .createZones: return .createZones(writer, dice.some(of: Names.customZones, atMost: 2))
        case .deleteZones: return .deleteZones(writer, dice.some(of: Names.customZones, atMost: 2))
        case .subscribe: return subscription(by: writer)
        case .unsubscribe:
            return .unsubscribe(
                writer, dice.pick([.private, .public]), id: dice.pick(Names.subscriptions)
            )
        default: return modification(by: writer)
        }
    }

    /// Somebody changes records.
    mutating func modification() -> Action { modification(by: writer()) }

    /// A zone that somebody writes to.
    mutating func site() -> Site {
        dice.pick(weighted: [
            (3, Site(scope: .private, zone: "red")), (2, Site(scope: .private, zone: "blue")),
            (1, Site(scope: .private, zone: ZoneID.defaultName)),
            (2, Site(scope: .public, zone: ZoneID.defaultName)),
        ])
    }

    private mutating func modification(by writer: Writer) -> Action {
        let site = site()
        let edits = dice.some(of: Names.records, atMost: 4).map { name in
            let kind: Edit.Kind = dice.pick(weighted: [(1, .insert), (5, .put), (3, .remove)])
            let isOwned = kind != .remove && site.scope == .private && dice.chance(30)
            return Edit(
                kind: kind, name: name, owner: isOwned ? dice.pick(Names.records) : nil,
                group: Int.random(in: 0...3, using: &dice)
            )
        }
        let isAtomic = site.zone != ZoneID.defaultName && dice.chance(70)
        return .modify(writer, site, edits, isAtomic: isAtomic)
    }

    private mutating func subscription(by writer: Writer) -> Action {
        let scope: DatabaseScope = dice.chance(70) ? .private : .public
        let kind: WireSubscription.Kind =
            scope == .public
            ? .query : dice.pick(weighted: [(3, .query), (2, .zone), (3, .database)])
        var trigger = Trigger(kind: kind)
        var style = Style(isVisual: dice.chance(40), countsBadge: dice.chance(20))
        switch kind {
        case .query:
            trigger.type = dice.pick(Names.types)
            if scope == .private, dice.chance(30) { trigger.zone = dice.pick(Names.customZones) }
            trigger.firesOn = WireSubscription.Events(rawValue: Int.random(in: 1...7, using: &dice))
            trigger.firesOnce = dice.chance(20)
            if dice.chance(50) { trigger.filter = filter() }
            style.collapses = dice.chance(30)
        case .zone:
            trigger.zone = dice.pick(Names.customZones)
            if dice.chance(20) { trigger.type = dice.pick(Names.types) }
        case .database:
            if dice.chance(20) { trigger.type = dice.pick(Names.types) }
        }
        return .subscribe(writer, scope, trigger, style, id: dice.pick(Names.subscriptions))
    }

    private mutating func filter() -> Filter {
        let group = Int.random(in: 0...3, using: &dice)
        return switch Int.random(in: 0...3, using: &dice) {
        case 0: .equals(group)
        case 1: .notEquals(group)
        case 2: .atLeast(group)
        default: .among(group, (group + 1) % 4)
        }
    }

    private mutating func interjection() -> Interjection {
        let kind: Kind = dice.pick([
            .modify, .deleteZones, .subscribe, .subscribe, .unsubscribe, .setBadge,
        ])
        let action: Action =
            kind == .setBadge
            ? .setBadge(writer(), Int.random(in: 0...9, using: &dice)) : change(kind)
        return Interjection(after: dice.pick(PassStep.allCases), action: action)
    }

    mutating func death(in action: Action) -> Death? {
        switch action {
        case .notify:
            return dice.chance(60)
                ? .after(dice.pick(PassStep.allCases))
                : .call(Int.random(in: 1...4, using: &dice), isDone: dice.chance(50))
        case .modify, .createZones, .deleteZones, .subscribe, .unsubscribe, .setBadge,
            .acknowledge, .poll, .maintain, .send, .fetch:
            return .call(Int.random(in: 1...2, using: &dice), isDone: dice.chance(50))
        case .sharing(.hear): return nil
        case .request, .again, .sharing: return .call(dice.below(4) + 1, isDone: dice.chance(50))
        case .saveFile: return .call(dice.below(9) + 1, isDone: dice.chance(50))
        default: return nil
        }
    }

    private mutating func user() -> Int { Int.random(in: 0..<users, using: &dice) }

    mutating func streamer() -> String { dice.pick(Names.streamers(of: user())) }

    mutating func writer() -> Writer {
        let user = user()
        let clients = Names.streamers(of: user) + [Names.page(of: user), Names.tool(of: user)]
        return Writer(user: user, client: dice.chance(15) ? nil : dice.pick(clients))
    }
}
