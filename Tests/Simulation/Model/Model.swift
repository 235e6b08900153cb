// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// What the cloud must be like after the steps so far: a second statement of the
/// rules, in as few words as possible, that shares nothing with the server's.
struct Model {
    /// The living custom zones of each user.
    var zones: [Int: Set<String>] = [:]
    var records: [Home: [String: Record]] = [:]
    var subscriptions: [SubscriptionName: Subscription] = [:]
    /// Committed changes that are still pending, in commit order.
    var pending: [Change] = []
    /// All notifications there ever were, those of each user by sequence.
    var log: [Row] = []
    var devices: [String: Device] = [:]
    /// The badges of users.
    var badges: [Int: Int] = [:]
    /// Each user's last notification before the store last came back from an older moment.
    var lostLifeEnds: [Int: Int64]?
    /// Counts saves of records; each writes the number into its record.
    private var recordVersions = 0
    private var subscriptionVersions = 0

    /// Returns the number of the next save of a record.
    mutating func nextRecordVersion() -> Int {
        recordVersions += 1
        return recordVersions
    }

    /// Gives no number twice, though the server may have forgotten what it stood for.
    mutating func keepCounting(after other: Model) {
        recordVersions = other.recordVersions
        subscriptionVersions = other.subscriptionVersions
    }

    /// Returns the number of the next subscription.
    mutating func nextSubscriptionVersion() -> Int {
        subscriptionVersions += 1
        return subscriptionVersions
    }
}

/// A zone of a database.
struct Home: Hashable {
    /// The owner of the private database; nil means the public one.
    var owner: Int?
    var zone: String

    init(_ site: Site, of user: Int) {
        owner = site.scope == .public ? nil : user
        zone = site.zone
    }

    init(owner: Int?, zone: String) {
        self.owner = owner
        self.zone = zone
    }
}

struct Record: Hashable {
    var version: Int
    var group: Int
    /// The record that takes this one along.
    var owner: String?
    var creator: Int
    /// The content of its file.
    var file: String?
}

struct SubscriptionName: Hashable {
    var user: Int
    var scope: DatabaseScope
    var id: String
}

struct Subscription: Hashable {
    var name: SubscriptionName
    var trigger: Trigger
    var style: Style
    /// Another one for each definition: what was saved anew as it was is the same.
    var version: Int
}

/// A committed change of one zone by one request.
struct Change {
    enum Event {
        case records([Fact])
        case zoneCreated
        case zoneDeleted(ended: [Subscription])
    }

    var home: Home
    var event: Event
    var origin: String?
    /// The versions of the subscriptions that it fired when it was committed.
    var due: [SubscriptionName: Int] = [:]
    /// Its ID in the outbox.
    var entry: OutboxEntryID?
    /// How far it was processed, while that is done in parts, and what that made.
    var notifiedThrough = SubscriptionSerial.start
    var notified: Set<Part> = []

    /// What a subscription is notified of: one record, or the zone.
    struct Part: Hashable {
        var subscription: Subscription
        var fact: Fact?
    }
}

/// What a change did to one record.
struct Fact: Hashable {
    var name: String
    var event: RecordEvent
    /// The number of the save that wrote what is reported: of a deletion, the last.
    var version: Int
    var group: Int
    /// The index in the batch; what goes along with others shares the last one.
    var rank: Int
}

/// A notification of the log.
struct Row {
    /// Lost is what the log does not have any more since it came back from an older moment.
    enum State { case living, replaced, trimmed, lost }

    var sequence: Int64
    var user: Int
    var origin: String?
    var subscription: SubscriptionName
    var push: Push
    var payload: [UInt8]
    var createdAt: Instant
    var isBackground: Bool
    var collapseID: CollapseID?
    var state = State.living

    /// Notifications with equal keys replace one another (PUSH-2).
    var replaceKey: [AnyHashable?]? {
        collapseID.map { [subscription, origin, $0] }
    }
}

/// A registered device.
struct Device {
    var client: String
    var user: Int
    /// Where its user's log stood when it was registered.
    var start: Int64
    /// The newest notification it has stored.
    var cursor: Int64
    /// What the server knows it has.
    var acknowledged: Int64
    /// All it ever received.
    var delivered: Set<Int64> = []
}

extension Model {
    /// The notifications that a device has to receive after a cursor, in order.
    func waiting(for device: Device, after cursor: Int64) -> [Row] {
        log.filter {
            $0.user == device.user && $0.sequence > cursor && $0.origin != device.client
                && $0.state == .living
        }
    }

    /// The greatest number that was given in a user's log.
    func logEnd(of user: Int) -> Int64 {
        log.lazy.filter { $0.user == user }.map(\.sequence).max() ?? 0
    }

    /// The notification at a position of the log.
    func row(_ sequence: Int64) -> Row? {
        log.last { $0.sequence == sequence }
    }
}
