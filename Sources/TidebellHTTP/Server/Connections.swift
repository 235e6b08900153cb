// SPDX-License-Identifier: Apache-2.0
import NIOCore
import Synchronization
import TidebellWire

/// One connection of a client.
final class Connection: Sendable {
    /// Where it comes from.
    let peer: PeerAddress?
    /// Whether it is a trusted proxy's, which brings the requests of many.
    let isProxys: Bool
    let channel: any Channel
    /// Whether the client is there still.
    let presence = ClientPresence()
    /// When it became idle, in nanoseconds of the event loops' clock; zero while a request
    /// is under way.
    private let idleSince: Atomic<UInt64>
    private let isUsers: Atomic<Bool>
    /// What answers count for that are not handed to the system yet.
    private let unsent = Mutex<[BodyBytes.Share]>([])

    init(_ channel: any Channel, proxies: TrustedProxies) {
        self.channel = channel
        peer = channel.remoteAddress?.ipAddress.flatMap(PeerAddress.init)
        isProxys = proxies.contains(peer)
        isUsers = Atomic(isProxys)
        idleSince = Atomic(NIODeadline.now().uptimeNanoseconds)
    }

    /// Whether a user's token was shown on it, or may be any time: it is a proxy's.
    var isFromUser: Bool {
        get { isUsers.load(ordering: .relaxed) }
        set { isUsers.store(newValue, ordering: .relaxed) }
    }

    /// When it became idle; nil while a request is under way.
    var idleBeginning: UInt64? {
        let value = idleSince.load(ordering: .relaxed)
        return value == 0 ? nil : value
    }

    func becameBusy() { idleSince.store(0, ordering: .relaxed) }

    func becameIdle(at moment: NIODeadline) {
        idleSince.store(max(1, moment.uptimeNanoseconds), ordering: .relaxed)
    }

    /// Keeps what an answer counts for until the system has taken its end.
    func hold(_ share: BodyBytes.Share) { unsent.withLock { $0.append(share) } }

    /// Hands over what the answer that ends counts for.
    func takeHeld() -> [BodyBytes.Share] {
        unsent.withLock { shares in
            defer { shares = [] }
            return shares
        }
    }
}

/// The connections of the server, of which one address has a part only.
///
/// When all slots are taken, the longest idle ones are closed for new ones: first those
/// on which no user was seen. A connection without a slot gets an answer which states that, as
/// long as only a few wait for it; the rest are closed without one, since each takes one of the
/// system's slots too.
final class Connections: Sendable {
    /// Why a connection is not served.
    enum Refusal: Sendable {
        case full
        case tooManyFromAddress(Int)
    }

    /// What becomes of a connection that has come.
    enum Beginning: Sendable {
        case served
        /// It gets an answer with the reason, and closes.
        case refused(Refusal)
        /// It closes at once.
        case turnedAway
    }

    /// The part of the idle connections that is closed at a time, so that a crowd is not
    /// gone through for each newcomer.
    private static let evictedPart = 20

    private struct State {
        var open: [ObjectIdentifier: Connection] = [:]
        /// On their way out, to be given back when they have closed.
        var evicted: Set<ObjectIdentifier> = []
        /// Those that got an answer which refuses them, or will get it.
        var refused: Set<ObjectIdentifier> = []
        var addresses: [String: Int] = [:]
    }

    private let limit: Int
    private let refusals: Int
    private let perAddress: Int
    private let limits: ShareLimits
    private let metrics: HTTPMetrics
    private let state = Mutex(State())

    /// Creates a table of at most `limit` connections, and `refusals` that get an answer
    /// which refuses them.
    init(limit: Int, refusals: Int, shares: Shares) {
        self.limit = max(1, limit)
        self.refusals = refusals
        limits = shares.limits
        metrics = shares.metrics
        perAddress = limits.connectionsPerAddress ?? max(1, limit / 2)
    }

    /// The connections now.
    var count: Int { state.withLock { $0.open.count } }

    /// Takes in a connection, unless it is beyond the limit.
    func open(_ connection: Connection) -> Beginning {
        let id = ObjectIdentifier(connection.channel)
        guard let refusal = takeSlot(for: connection, id) else { return .served }
        switch refusal {
        case .full: metrics.refused(.connections)
        case .tooManyFromAddress: metrics.refused(.connectionsPerAddress)
        }
        let getsAnswer = state.withLock { state in
            state.refused.count < refusals && state.refused.insert(id).inserted
        }
        return getsAnswer ? .refused(refusal) : .turnedAway
    }

    private func takeSlot(for connection: Connection, _ id: ObjectIdentifier) -> Refusal? {
        let address = share(of: connection)
        let (refusal, victims) = state.withLock { state -> (Refusal?, [Connection]) in
            if let address, state.addresses[address, default: 0] >= perAddress {
                return (.tooManyFromAddress(perAddress), [])
            }
            var victims: [Connection] = []
            if state.open.count >= limit {
                victims = Self.evict(from: &state)
                if victims.isEmpty { return (.full, []) }
            }
            state.open[id] = connection
            if let address { state.addresses[address, default: 0] += 1 }
            return (nil, victims)
        }
        for victim in victims { victim.channel.close(promise: nil) }
        return refusal
    }

    /// Forgets a connection that has closed.
    func closed(_ connection: Connection) {
        let id = ObjectIdentifier(connection.channel)
        state.withLock { state in
            state.refused.remove(id)
            let wasOpen = state.open.removeValue(forKey: id) != nil
            guard state.evicted.remove(id) != nil || wasOpen else { return }
            guard let address = share(of: connection), let count = state.addresses[address]
            else { return }
            state.addresses[address] = count > 1 ? count - 1 : nil
        }
    }

    /// Closes all, whatever they do; returns how many there were.
    func closeAll() -> Int {
        let all = state.withLock { Array($0.open.values) }
        for connection in all { connection.channel.close(promise: nil) }
        return all.count
    }

    private func share(of connection: Connection) -> String? {
        guard let peer = connection.peer, !connection.isProxys else { return nil }
        return limits.counted(peer).sharing
    }

    private static func evict(from state: inout State) -> [Connection] {
        let idle = state.open.compactMap { id, connection in
            connection.idleBeginning.map { (id, $0, connection) }
        }
        let victims = idle.sorted { left, right in
            left.2.isFromUser == right.2.isFromUser ? left.1 < right.1 : !left.2.isFromUser
        }.prefix(max(1, idle.count / evictedPart))
        for (id, _, _) in victims {
            state.open[id] = nil
            state.evicted.insert(id)
        }
        return victims.map(\.2)
    }
}
