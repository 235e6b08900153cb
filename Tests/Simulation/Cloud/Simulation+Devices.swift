// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore
import TidebellHTTP
import TidebellPush
import TidebellWire
import HTTPTypes
import TidebellServer

extension Simulation {
    /// Registers a device, from the log's end on.
    func register(_ client: String, of user: Int) async throws {
        try await sendAcknowledgement(of: client, user, upTo: 0)
        let id = people[user].id
        let devices = try await base.read { try $0.devices(of: id) }
        guard let device = devices.first(where: { $0.clientID == client }) else {
            throw Violation("\(client) was not registered")
        }
        let start = device.acknowledged.rawValue
        try demand(
            start >= model.logEnd(of: user), "\(client) begins at \(start), in the past"
        )
        model.devices[client] = Device(
            client: client, user: user, start: start, cursor: start, acknowledged: start
        )
    }

    /// Another user signs in on a device, which forgets the user before.
    func signIn(_ client: String, _ user: Int) async throws {
        guard let device = model.devices[client], device.user != user else { return }
        streams[client] = nil
        replicas[client] = nil
        try await register(client, of: user)
    }

    /// Opens the device's stream after what it has stored.
    func connect(_ client: String) async throws {
        guard let device = model.devices[client] else { return }
        let id = people[device.user].id
        let devices = try await base.read { try $0.devices(of: id) }
        guard let stored = devices.first(where: { $0.clientID == client }) else {
            throw Violation("the server forgot \(client)")
        }
        streams[client] = OpenStream(
            cloud.streams.open(
                device: stored, after: NotificationSequence(rawValue: device.cursor)
            ),
            cursor: device.cursor
        )
    }

    /// Takes what waits for the device: from the open stream, or from one that is
    /// opened through the API and broken off.
    func read(_ client: String, limit: Int, forgets: Bool) async throws {
        guard let device = model.devices[client] else { return }
        let cursor = streams[client]?.cursor ?? device.cursor
        let waiting = model.waiting(for: device, after: cursor)
        let last = waiting.prefix(limit).last?.sequence
        var events: [(sequence: Int64, payload: [UInt8])] = []
        if let stream = streams[client] {
            var position = cursor
            while let last, position < last {
                guard let event = try await stream.next() else {
                    throw Violation("the stream of \(client) ended")
                }
                let frame = try Frame(event.frame.bytes)
                position = event.sequence.rawValue
                try demand(frame.sequence == position, "a frame of \(client) has another ID")
                events.append((position, frame.payload))
            }
            streams[client]?.cursor = position
        } else {
            events = try await fetchStream(of: device, count: min(waiting.count, limit)).events
        }
        try await take(events, by: client, after: cursor)
        if forgets {
            // The process ends: what it had not stored comes again.
            streams[client] = nil
        } else if let last = events.last {
            model.devices[client]?.cursor = last.sequence
        }
    }

    /// Checks what a device received: its user's, not its own doing, in order,
    /// without a gap, each payload as it was stored.
    private func take(
        _ events: [(sequence: Int64, payload: [UInt8])], by client: String, after cursor: Int64
    ) async throws {
        guard let device = model.devices[client] else { return }
        var position = cursor
        for (sequence, payload) in events {
            guard let row = model.row(sequence), row.state != .lost else {
                throw Violation("\(client) received \(sequence), which is not in the log")
            }
            try demand(row.user == device.user, "\(client) received another user's \(row.push)")
            try demand(row.origin != client, "\(client) received its own \(row.push)")
            try demand(row.payload == payload, "\(client) received another payload of \(row.push)")
            try demand(sequence > position, "\(client) received \(sequence) after \(position)")
            let skipped = model.waiting(for: device, after: position).first
            try demand(
                skipped.map { $0.sequence >= sequence } ?? true,
                "\(client) received \(sequence), but not \(skipped?.sequence ?? 0) before it"
            )
            if deliveredCount % 4 == 0, !store.isDead { try await checkFetchable(row) }
            position = sequence
            deliveredCount += 1
            model.devices[client]?.delivered.insert(sequence)
        }
    }

    /// Acknowledges to the server what the device has.
    func acknowledge(_ client: String) async throws {
        guard let device = model.devices[client] else { return }
        try await sendAcknowledgement(of: client, device.user, upTo: device.cursor)
    }

    private func sendAcknowledgement(
        of client: String, _ user: Int, upTo cursor: Int64
    ) async throws {
        let target = target("ext", "notifications/ack", Writer(user: user, client: client))
        let body = try await call(.post, target, Array(#"{"cursor":"\#(cursor)"}"#.utf8))
        try demand(body == Array("{}".utf8), "the acknowledgement of \(client) was refused")
    }

    // MARK: Streams and couriers

    /// Reads how a stream begins, and `count` events, over the API and breaks off.
    func fetchStream(
        of device: Device, count: Int
    ) async throws -> (beginning: String, events: [(sequence: Int64, payload: [UInt8])]) {
        let writer = Writer(user: device.user, client: device.client)
        let target =
            target("ext", "notifications/stream", writer) + "&cursor=\(device.cursor)"
        let response = await cloud.respond(.get, target)
        guard case .feed = response.body else {
            throw Violation("\(device.client) gets no stream: \(response.status)")
        }
        // The first piece shows that the stream is ready.
        let reader = BreakingReader(count: count + 1, breaksOff: true)
        var body: any BodyWriter = reader
        do {
            try await response.body.produce(to: &body)
            throw Violation("the stream of \(device.client) ended")
        } catch is BreakingReader.BrokeOff {
            let beginning = String(decoding: reader.pieces.first ?? [], as: UTF8.self)
            try demand(
                model.lostLifeEnds.map { device.cursor > $0[device.user] ?? 0 } ?? true
                    || beginning.contains("event: gap"),
                "\(device.client) comes from a life that was lost and is not notified of a gap"
            )
            let frames = try reader.pieces.dropFirst().map(Frame.init)
            return (beginning, frames.map { ($0.sequence, $0.payload) })
        }
    }

    /// Creates the courier of the user's page.
    func openPage(of user: Int) async throws {
        let client = Names.page(of: user)
        let target = target("device", "tokens/create", Writer(user: user, client: client))
        let request = TokenRequest(apnsEnvironment: .development, clientId: client)
        let body = try await call(.post, target, JSONWriter.write(request.write))
        let answer = try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
        guard let url = answer?["webcourierURL"] as? String,
            let path = URL(string: url)?.path()
        else { throw Violation("\(client) gets no courier") }
        people[user].courier = path
        model.devices[client] = Device(
            client: client, user: user, start: 0, cursor: 0, acknowledged: 0
        )
    }

    /// Asks the courier of a page once; returns whether there was anything.
    @discardableResult
    func poll(_ client: String, breaksOff: Bool) async throws -> Bool {
        guard let device = model.devices[client],
            let row = model.waiting(for: device, after: device.acknowledged).first
        else { return false }
        let response = await cloud.respond(.get, people[device.user].courier)
        if store.isDead { throw MortalStore.Died() }
        guard case .stream(let produce) = response.body else {
            throw Violation("\(client) gets no answer: \(response.status)")
        }
        let reader = BreakingReader(count: 1, breaksOff: breaksOff)
        var writer: any BodyWriter = reader
        let writes = store.writes
        var failure: (any Error)?
        do {
            try await produce(&writer)
        } catch {
            failure = error
        }
        // Unless it was acknowledged, it comes again.
        if store.writes > writes {
            model.devices[client]?.acknowledged = row.sequence
            let event = (row.sequence, reader.pieces.flatMap(\.self))
            try await take([event], by: client, after: device.acknowledged)
        } else {
            try demand(failure != nil, "\(client) got an answer that was not acknowledged")
        }
        if store.isDead { throw MortalStore.Died() }
        if !breaksOff, let failure { throw failure }
        return true
    }
}
