// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPush
import TidebellWire

/// One step of a walk: what somebody does, and where the server dies of it.
///
/// A step means something whatever came before, so that a walk from which steps
/// were cut is a walk.
struct Step: Sendable, Hashable {
    var action: Action
    var death: Death?
}

/// What somebody does.
indirect enum Action: Sendable, Hashable {
    case modify(Writer, Site, [Edit], isAtomic: Bool)
    case createZones(Writer, [String])
    case deleteZones(Writer, [String])
    case subscribe(Writer, DatabaseScope, Trigger, Style, id: String)
    case unsubscribe(Writer, DatabaseScope, id: String)
    /// The pipeline processes what is pending; meanwhile something else may happen.
    case notify(meanwhile: Interjection?)
    /// Another pipeline processes what is pending, while those before it stand still.
    case notifyBeside(pipeline: Int, meanwhile: Interjection?)
    /// So much time passes that whoever holds a database loses it.
    case leasesExpire
    /// One after the other.
    case several([Action])
    /// A device opens its stream where it left off.
    case connect(String)
    case disconnect(String)
    /// A device takes what its stream has, at most `limit` of it; who forgets
    /// dies before the cursor is stored.
    case read(String, limit: Int, forgets: Bool)
    case acknowledge(String)
    /// A page asks its courier; a poll may break off before the answer arrives.
    case poll(String, breaksOff: Bool)
    /// Another user signs in on a device.
    case signIn(String, user: Int)
    /// A user sets the badge of all devices.
    case setBadge(Writer, Int)
    case restart
    case wait(hours: Int)
    case maintain
    /// A change under a request ID of its own, which may be sent again.
    case request(Action)
    /// A request is sent again; they are counted from the newest.
    case again(request: Int)
    /// A record is saved with a file that is uploaded for it.
    case saveFile(Writer, Site, Edit, content: String, UploadFault?)
    /// A file is gone from the disk.
    case loseFile(Int)
    /// The pipeline runs by itself while changes are made.
    case listen([WokenChange])
    /// A device changes a record, and keeps the change for itself.
    case edit(String, zone: String, Edit)
    /// A device sends what it has changed.
    case send(String)
    /// A device fetches what others have changed.
    case fetch(String)
    case backUp
    /// A backup is restored; backups are counted from the newest.
    case restore(backup: Int)
    /// The database of a backup replaces the present one, without a word.
    case putBack(backup: Int)
    /// The server dies, and the write-ahead log loses its last commits.
    case cut(commits: Int, torn: Int)
    case sharing(SharingAction)
    /// A query is asked page by page, and something happens between two pages.
    case query(Writer, Site, GroupQuery, isSorted: Bool, page: Int, between: [Action])
    case indexing(Indexing)
}

/// What happens between two stages of a pass.
struct Interjection: Sendable, Hashable {
    var after: PassStep
    var action: Action
}

/// A change while the pipeline runs by itself.
struct WokenChange: Sendable, Hashable {
    var action: Action
    /// Whether nobody wakes the pipeline for it.
    var isWakeUpLost: Bool
}

/// What goes wrong with an upload.
enum UploadFault: Sendable, Hashable {
    /// The connection breaks in the middle; the client sends the file once more.
    case cut
    /// The file is sent to the same URL twice.
    case twice
    /// The record is saved so late that the file is gone.
    case late
}

/// Where the server dies.
enum Death: Sendable, Hashable {
    /// After a stage of the pipeline.
    case after(PassStep)
    /// At the n-th call of the store: before it does anything, or when what it
    /// did is durable and nobody knows yet.
    case call(Int, isDone: Bool)
}

/// Who calls: a user, and the device if the client sends it.
struct Writer: Sendable, Hashable {
    var user: Int
    var client: String?
}

/// Where records are.
struct Site: Sendable, Hashable {
    var scope: DatabaseScope
    var zone: String
}

/// What a batch does to one record.
struct Edit: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case insert, put, remove
        /// Over the version that the writer knows, and no other.
        case update
    }

    var kind: Kind
    var name: String
    /// The record that takes this one along when it goes.
    var owner: String?
    /// What filters look at.
    var group: Int
    /// What the writer knows of the record.
    var known: Known?
    /// The content of the record's file, and what proves that it was uploaded.
    var file: String?
    var receipt: WireAsset?
    /// Whether the server does not have it any more.
    var isFileGone = false
}

/// What fires a subscription.
struct Trigger: Sendable, Hashable {
    var kind: WireSubscription.Kind
    var zone: String?
    var type: String?
    var firesOn: WireSubscription.Events = []
    var firesOnce = false
    /// What the query asks of a record beside its type.
    var filter: Filter?
}

/// A condition on the group of a record.
enum Filter: Sendable, Hashable {
    case equals(Int)
    case notEquals(Int)
    case atLeast(Int)
    /// Two different groups.
    case among(Int, Int)
}

/// How a subscription notifies.
struct Style: Sendable, Hashable {
    var isVisual = false
    var countsBadge = false
    /// Whether records of one group replace one another.
    var collapses = false

    /// Whether the user sees it.
    var showsSomething: Bool { isVisual || countsBadge }
}

extension Step: CustomStringConvertible {
    var description: String { death.map { "\(action), \($0)" } ?? "\(action)" }
}

extension Death: CustomStringConvertible {
    var description: String {
        switch self {
        case .after(let step): "dying after stage '\(step)'"
        case .call(let number, let isDone):
            "dying \(isDone ? "after" : "before") call \(number) of the store"
        }
    }
}

extension Action: CustomStringConvertible {
    var description: String {
        switch self {
        case .modify(let writer, let site, let edits, let isAtomic):
            "\(writer) \(isAtomic ? "atomically " : "")\(edits.map(\.description)) in \(site)"
        case .createZones(let writer, let zones): "\(writer) creates zones \(zones)"
        case .deleteZones(let writer, let zones): "\(writer) deletes zones \(zones)"
        case .subscribe(let writer, let scope, let trigger, let style, let id):
            "\(writer) subscribes '\(id)' to \(scope) \(trigger) \(style)"
        case .unsubscribe(let writer, let scope, let id):
            "\(writer) deletes subscription '\(id)' of \(scope)"
        case .notify(nil): "the pipeline runs"
        case .notify(let meanwhile?):
            "the pipeline runs; after stage '\(meanwhile.after)': \(meanwhile.action)"
        case .notifyBeside(let pipeline, nil): "pipeline \(pipeline) runs"
        case .notifyBeside(let pipeline, let meanwhile?):
            "pipeline \(pipeline) runs; after stage '\(meanwhile.after)': \(meanwhile.action)"
        case .leasesExpire: "the leases expire"
        case .several(let actions): "(\(actions.map(\.description).joined(separator: "; ")))"
        case .connect(let device): "\(device) connects"
        case .disconnect(let device): "\(device) disconnects"
        case .read(let device, let limit, let forgets):
            "\(device) reads up to \(limit)\(forgets ? " and forgets it" : "")"
        case .acknowledge(let device): "\(device) acknowledges"
        case .poll(let device, let breaksOff):
            "\(device) polls\(breaksOff ? " and breaks off" : "")"
        case .signIn(let device, let user): "user \(user) signs in on \(device)"
        case .setBadge(let writer, let badge): "\(writer) sets the badge to \(badge)"
        case .restart: "the server restarts"
        case .wait(let hours): "\(hours) hours pass"
        case .maintain: "maintenance"
        case .request(let action): "as a request: \(action)"
        case .again(let request): "request \(request) before the newest is sent again"
        case .saveFile(let writer, let site, let edit, let content, let fault):
            "\(writer) uploads \(content)\(fault.map { " (\($0))" } ?? "") for \(edit) in \(site)"
        case .loseFile(let number): "file \(number) is gone from the disk"
        case .listen(let changes):
            "the pipeline runs: "
                + changes.map { "\($0.action)\($0.isWakeUpLost ? ", not woken" : "")" }
                .joined(separator: "; ")
        case .edit(let device, let zone, let edit): "\(device) changes \(zone): \(edit)"
        case .send(let device): "\(device) sends its changes"
        case .fetch(let device): "\(device) fetches"
        case .backUp: "a backup is made"
        case .restore(let number): "backup \(number) before the newest is restored"
        case .putBack(let number):
            "the database of backup \(number) before the newest is put back"
        case .cut(let commits, let torn):
            "the log is cut \(commits) commits before its end, and \(torn) bytes"
        case .sharing(let action): "\(action)"
        case .query(let writer, let site, let query, let isSorted, let page, let between):
            "\(writer) asks \(site) for \(query)\(isSorted ? ", sorted" : ""), \(page) at a time; "
                + "meanwhile: \(between.map(\.description))"
        case .indexing(let indexing): "\(indexing)"
        }
    }
}

extension Writer: CustomStringConvertible {
    var description: String { "user \(user) (\(client ?? "no client ID"))" }
}

extension Site: CustomStringConvertible {
    var description: String { "\(scope)/\(zone)" }
}

extension Edit: CustomStringConvertible {
    var description: String {
        "\(kind) \(name) of group \(group)" + (owner.map { " owned by \($0)" } ?? "")
    }
}

extension Trigger: CustomStringConvertible {
    var description: String {
        [
            kind.rawValue, zone.map { "in \($0)" }, type.map { "of \($0)" },
            kind == .query ? "on \(firesOn.names)" : nil, firesOnce ? "once" : nil,
            filter.map { "where the group \($0)" },
        ].compactMap(\.self).joined(separator: " ")
    }
}

extension Style: CustomStringConvertible {
    var description: String {
        [
            isVisual ? "visually" : "silently", countsBadge ? "with a badge" : nil,
            collapses ? "collapsing groups" : nil,
        ].compactMap(\.self).joined(separator: " ")
    }
}
