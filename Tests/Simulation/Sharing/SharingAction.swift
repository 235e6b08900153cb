// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What somebody does in a walk in which zones are shared.
enum SharingAction: Sendable, Hashable {
    case makeZone(String, by: Writer)
    case removeZone(String, by: Writer)
    /// Notes are saved and deleted, all or none.
    case put([NoteEdit], SharedZone, by: Writer)
    /// A share is made, with whom it invites.
    case share(ShareID, [Invitation], open: SharePermission, by: Writer)
    /// A participant is invited or gets other rights; nil removes them.
    case set(Int, Invitation?, ShareID, by: Writer)
    /// The public permission changes.
    case open(SharePermission, ShareID, by: Writer)
    /// A one-time URL is made, whoever has it gets other rights, or, for nil, loses them.
    case link(Int, SharePermission?, ShareID, by: Writer)
    /// Whether those who are not invited may ask for access changes.
    case letAsk(Bool, ShareID, by: Writer)
    case deny(Int, ShareID, by: Writer)
    case block(Int, Bool, ShareID, by: Writer)
    /// The share's record is deleted: its owner ends it, anybody else leaves it.
    case stop(ShareID, by: Writer)
    case accept(ShareID, by: Writer)
    /// By a one-time URL, the newest or one that was told before.
    case acceptLink(Int, ShareID, isOld: Bool, by: Writer)
    /// Somebody asks for access.
    case ask(ShareID, by: Writer)
    /// A subscription to a whole database is saved.
    case subscribe(String, DatabaseScope, type: String?, by: Writer)
    case unsubscribe(String, DatabaseScope, by: Writer)
    /// A device takes the pushes that wait for it.
    case hear(String)
    /// A device fetches what it knows to have changed, at most so many pages of each zone.
    case sync(String, pages: Int)
    /// In each zone that is not settled, records follow what is above them, at most so many.
    case settle(limit: Int)
}

/// A zone, by its owner.
struct SharedZone: Sendable, Hashable {
    var owner: Int
    var name: String

    /// The zones of a walk: one user shares two, another one has a zone of the same name.
    static let all = [
        SharedZone(owner: 0, name: "red"), SharedZone(owner: 0, name: "blue"),
        SharedZone(owner: 1, name: "red"),
    ]

    /// The database in which a user has it.
    func scope(for user: Int) -> DatabaseScope { user == owner ? .private : .shared }
}

/// A share, by what it shares.
struct ShareID: Sendable, Hashable {
    var zone: SharedZone
    /// Nil for the zone itself.
    var root: String?

    /// The name of its record.
    var name: String { root.map { "share-\($0)" } ?? ShareNames.zoneWideShare }
}

/// What somebody is to be in a share.
struct Invitation: Sendable, Hashable {
    var user: Int
    var permission: SharePermission
    var role = ParticipantRole.privateUser
}

/// What a batch does to one note.
struct NoteEdit: Sendable, Hashable {
    /// Where the note is to hang.
    enum Parent: Sendable, Hashable {
        case asBefore
        case none
        case note(String)
    }

    var name: String
    var isRemoved = false
    var parent = Parent.asBefore
    /// The note that takes this one along when it goes.
    var owner: String?
    /// The note that has to stay as long as this one refers to it.
    var needed: String?
    /// The content of its file.
    var file: String?
}

extension SharingAction: CustomStringConvertible {
    var description: String {
        switch self {
        case .makeZone(let name, let writer): "\(writer) creates zone \(name)"
        case .removeZone(let name, let writer): "\(writer) deletes zone \(name)"
        case .put(let edits, let zone, let writer): "\(writer) \(edits) in \(zone)"
        case .share(let share, let invited, let permission, let writer):
            "\(writer) shares \(share), open to \(permission), with \(invited)"
        case .set(let user, let invitation, let share, let writer):
            "\(writer) " + (invitation.map { "sets \($0)" } ?? "removes user \(user)")
                + " of \(share)"
        case .open(let permission, let share, let writer):
            "\(writer) opens \(share) to \(permission)"
        case .stop(let share, let writer): "\(writer) deletes \(share)"
        case .link(let number, let permission, let share, let writer):
            "\(writer) "
                + (permission.map { "makes one-time URL \(number) (\($0))" }
                    ?? "takes back one-time URL \(number)") + " of \(share)"
        case .letAsk(let isAskable, let share, let writer):
            "\(writer) lets \(isAskable ? "everybody" : "nobody") ask for \(share)"
        case .deny(let user, let share, let writer): "\(writer) denies user \(user) \(share)"
        case .block(let user, let isBlocked, let share, let writer):
            "\(writer) \(isBlocked ? "blocks" : "unblocks") user \(user) of \(share)"
        case .accept(let share, let writer): "\(writer) accepts \(share)"
        case .acceptLink(let number, let share, let isOld, let writer):
            "\(writer) accepts \(share) by \(isOld ? "an older" : "the") one-time URL \(number)"
        case .ask(let share, let writer): "\(writer) asks for \(share)"
        case .subscribe(let id, let scope, let type, let writer):
            "\(writer) subscribes '\(id)' to \(scope) \(type ?? "")"
        case .unsubscribe(let id, let scope, let writer):
            "\(writer) deletes subscription '\(id)' of \(scope)"
        case .hear(let device): "\(device) takes its pushes"
        case .sync(let device, let pages): "\(device) fetches up to \(pages) pages of each zone"
        case .settle(let limit): "up to \(limit) records of each zone follow what is above them"
        }
    }
}

extension SharedZone: CustomStringConvertible {
    var description: String { "\(name) of user \(owner)" }
}

extension ShareID: CustomStringConvertible {
    var description: String { "\(name) in \(zone)" }
}

extension Invitation: CustomStringConvertible {
    var description: String { "user \(user) (\(permission), \(role))" }
}

extension NoteEdit: CustomStringConvertible {
    var description: String {
        guard !isRemoved else { return "deletes \(name)" }
        let place =
            switch parent {
            case .asBefore: ""
            case .none: " to the top"
            case .note(let parent): " below \(parent)"
            }
        return "saves \(name)\(place)" + (owner.map { " owned by \($0)" } ?? "")
            + (needed.map { " needing \($0)" } ?? "") + (file.map { " with \($0)" } ?? "")
    }
}
