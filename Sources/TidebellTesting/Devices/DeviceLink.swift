// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Synchronization

/// The way of one device to the server: can be cut, and reports what it carries.
final class DeviceLink: Transport {
    /// How far the device is with holding a stream of a container open.
    enum StreamState: Sendable {
        /// No stream is open or on its way.
        case down
        /// On its way.
        case connecting
        /// The server answers with events on at least one.
        case live
    }

    /// A stream that the device holds open.
    private struct OpenStream {
        let container: String
        let continuation: AsyncThrowingStream<[UInt8], any Error>.Continuation
    }

    private struct State {
        var isOnline = true
        var hold: TransferHold?
        var open: [UInt64: OpenStream] = [:]
        /// How many streams are on their way, by container.
        var connecting: [String: Int] = [:]
        /// Late pushes whose moment came and that the device has not handled yet, by container: each new
        /// stream brings them. As many as the test asked for.
        var overduePushes: [String: [[UInt8]]] = [:]
        /// How often the device ended its registrations: a push for an earlier one does not come.
        var endedRegistrations = 0
        var lastID: UInt64 = 0

        func streamState(of container: String) -> StreamState {
            if open.values.contains(where: { $0.container == container }) { return .live }
            return connecting[container] == nil ? .down : .connecting
        }

        /// The containers of which a push is to come over a stream that the device has yet to open again.
        var awaitedContainers: Set<String> {
            guard isOnline else { return [] }
            return Set(overduePushes.keys.filter { streamState(of: $0) == .down })
        }
    }

    /// Pieces of a stream that may wait for the device before the line breaks.
    private static let waitingPieces = 4096

    /// What is to go wrong with requests.
    let faults = FaultPlan()
    /// What is to go wrong with pushes.
    let pushFaults = PushFaultPlan()
    /// Whether the server is to refuse the account.
    let refusal = AccountRefusal()

    private let cloud: CloudState
    private let deviceID: String
    private let state = Mutex(State())

    init(cloud: CloudState, deviceID: String) {
        self.cloud = cloud
        self.deviceID = deviceID
    }

    /// Whether the device reaches the server.
    var isOnline: Bool { state.withLock { $0.isOnline } }

    /// The state of the stream of a container.
    func streamState(of container: String) -> StreamState {
        state.withLock { $0.streamState(of: container) }
    }

    /// How many streams it holds open.
    var openStreams: Int { state.withLock { $0.open.count } }

    /// Connects the device, or cuts it off.
    func setOnline(_ isOnline: Bool) {
        change { $0.isOnline = isOnline }
        if !isOnline { cut() }
        cloud.changes.notify()
    }

    /// Breaks the streams that are open.
    func cut() {
        let open = change { state in
            defer { state.open = [:] }
            return state.open.values
        }
        for stream in open {
            stream.continuation.finish(throwing: TransportError.connectionLost("cut by the test"))
        }
        cloud.changes.notify()
    }

    /// Notes that the server of the cloud was started or stopped.
    func serverChanged() {
        change { _ in }
    }

    func send(_ request: TransportRequest, timeout: Duration) async throws -> TransportResponse {
        let server = try server(for: request)
        let seen = SeenRequest(request)
        if let answer = refusal.answer(to: seen) { return answer }
        // The clock of the cloud stands still while a request is under way: real time ends what hangs.
        let patience = max(timeout, cloud.safetyLimit)
        guard let (fault, kind) = fault(for: seen) else {
            return try await server.send(request, timeout: patience)
        }
        return try await fault.send(request, seen, kind, timeout: timeout) { duration in
            try await wait(duration, "for the slow answer to \(kind)")
        } by: { request in
            try await server.send(request, timeout: patience)
        }
    }

    /// Waits on the cloud's clock for an answer.
    private func wait(_ duration: Duration, _ purpose: String) async throws {
        try await cloud.wait(duration, ofDevice: deviceID, purpose)
    }

    /// Takes the fault that meets a request: one of the device, else one of the cloud.
    private func fault(for request: SeenRequest) -> (fault: Fault, kind: RequestKind)? {
        faults.take(for: request) ?? cloud.faults.take(for: request)
    }

    func stream(_ request: TransportRequest) async throws -> TransportStream {
        let container = RequestPath(request.path)?.container ?? ""
        if let answer = refusal.answer(to: SeenRequest(request)) {
            return TransportStream(refusal: answer)
        }
        let registrations = change { state in
            state.connecting[container, default: 0] += 1
            return state.endedRegistrations
        }
        cloud.changes.notify()
        do {
            let answer = try await server(for: request).stream(request)
            guard answer.status == 200 else {
                connected(to: container)
                return answer
            }
            let chunks = relay(answer.chunks, of: container, openedAfter: registrations)
            return TransportStream(headers: answer.headers, chunks: chunks)
        } catch {
            connected(to: container)
            throw error
        }
    }

    /// Notes that a stream is on its way no more; `opened` is what became of it.
    private func connected(
        to container: String, _ opened: (id: UInt64, stream: OpenStream)? = nil
    ) {
        change { state in
            let left = (state.connecting[container] ?? 1) - 1
            state.connecting[container] = left > 0 ? left : nil
            if let opened { state.open[opened.id] = opened.stream }
        }
        cloud.changes.notify()
    }

    func upload(
        _ request: TransportRequest, of file: TransportFile, stallTimeout: Duration
    ) async throws -> TransportResponse {
        let file = state.withLock { $0.hold }?.holding(file) ?? file
        let server = try server(for: request)
        let fault = fault(for: SeenRequest(file: .upload))?.fault
        if let answer = try fault?.refusal() { return answer }
        let answer = try await server.upload(
            request, of: file, stallTimeout: max(stallTimeout, cloud.safetyLimit)
        )
        let instead = try await fault?.afterTransfer(timeout: stallTimeout) { duration in
            try await wait(duration, "for the slow answer to uploadAssets")
        }
        return instead ?? answer
    }

    func download(_ request: TransportRequest) async throws -> TransportStream {
        let server = try server(for: request)
        let fault = fault(for: SeenRequest(file: .download))?.fault
        if let answer = try fault?.refusal() { return TransportStream(refusal: answer) }
        let answer = try await server.download(request)
        let instead = try await fault?.afterTransfer(timeout: cloud.safetyLimit) { duration in
            try await wait(duration, "for the slow answer to downloadAssets")
        }
        if let instead { return TransportStream(refusal: instead) }
        return state.withLock { $0.hold }?.holding(answer) ?? answer
    }

    /// Stops transfers of files at a point, from the next one on.
    func hold(_ hold: TransferHold) {
        state.withLock { $0.hold = hold }
    }

    private func server(for request: TransportRequest) throws -> any Transport {
        cloud.watchdog.noteActivity()
        guard isOnline else { throw TransportError.unreachable("the device is offline") }
        if let path = RequestPath(request.path) { cloud.note(path) }
        return try cloud.server()
    }

    /// Changes the state, and has time pass in ``TestCloud/passingTime(upTo:isolation:_:)`` until the device
    /// connects again, where a late push waits for that.
    ///
    /// Nothing is resumed by the body: who is resumed may be cancelled at the same time, and then waits
    /// for the state.
    @discardableResult
    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            defer {
                let containers = cloud.isRunning ? state.awaitedContainers : []
                cloud.clock.setAwaited(containers, ofDevice: deviceID)
            }
            return body(&state)
        }
    }

    /// Passes pieces on until either side ends or the line is cut.
    private func relay(
        _ pieces: AsyncThrowingStream<[UInt8], any Error>,
        of container: String, openedAfter registrations: Int
    ) -> AsyncThrowingStream<[UInt8], any Error> {
        let (relayed, continuation) = AsyncThrowingStream.makeStream(
            of: [UInt8].self,
            bufferingPolicy: .bufferingOldest(Self.waitingPieces)
        )
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let pump = RelayPump()
        // Before anybody can end it: a stream that has ended does not call what is set later.
        continuation.onTermination = { [weak self] _ in
            pump.end()
            self?.change { $0.open[id] = nil }
            self?.cloud.changes.notify()
        }
        connected(to: container, (id, OpenStream(container: container, continuation: continuation)))
        // What comes twice the device recognizes by its ID.
        let overdue = state.withLock { $0.overduePushes[container] ?? [] }
        for push in overdue { continuation.yield(push) }
        // Without a parent, as the line outlives the call that opened it; ends with
        // the line.
        pump.start { [weak self] in
            do {
                var frames = StreamFrames()
                for try await piece in pieces {
                    let passed = frames.take(piece).flatMap { frame in
                        self?.passed(frame, of: container, openedAfter: registrations) ?? [frame]
                    }
                    for frame in passed { try Self.pass(frame, to: continuation) }
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        // It may have gone offline while the answer was on its way.
        if !isOnline { cut() }
        return notingHandledPushes(relayed, of: container)
    }

    private static func pass(
        _ frame: [UInt8], to continuation: AsyncThrowingStream<[UInt8], any Error>.Continuation
    ) throws {
        guard case .enqueued = continuation.yield(frame) else {
            throw TransportError.connectionLost("the device reads too slowly")
        }
    }

    /// Passes a stream on, and notes which late pushes the device has handled: those behind which it
    /// asks for more. One that it still has to read when the stream ends comes with the next stream.
    private func notingHandledPushes(
        _ relayed: AsyncThrowingStream<[UInt8], any Error>, of container: String
    ) -> AsyncThrowingStream<[UInt8], any Error> {
        // One device reads a stream, one piece after the other.
        nonisolated(unsafe) var pieces = relayed.makeAsyncIterator()
        nonisolated(unsafe) var handled: [UInt8]?
        return AsyncThrowingStream { [weak self] in
            if let handled { self?.forgetPush(handled, of: container) }
            handled = try await pieces.next()
            return handled
        }
    }

    private func forgetPush(_ bytes: [UInt8], of container: String) {
        change { state in
            guard var pushes = state.overduePushes[container] else { return }
            pushes.removeAll { $0 == bytes }
            state.overduePushes[container] = pushes.isEmpty ? nil : pushes
        }
    }

    /// Forgets the late pushes of registrations that end.
    func endRegistrations() {
        change { state in
            state.overduePushes = [:]
            state.endedRegistrations += 1
        }
        pushFaults.loseLate()
    }

    /// Returns what the device gets of an event of its stream.
    private func passed(
        _ frame: [UInt8], of container: String, openedAfter registrations: Int
    ) -> [[UInt8]] {
        // Before the push counts as held back: who then moves the clock waits from here on.
        let now = cloud.clock.now
        guard !pushFaults.isIdle, let push = PushFrame(frame),
            let fault = pushFaults.take(for: push.payload, at: now)
        else {
            return [frame]
        }
        switch fault.effect {
        case .lost: return []
        case .doubled: return [frame, push.repeated]
        case .pruned: return [push.pruned]
        case .late(let duration):
            let clock = cloud.clock
            // Without a parent: it comes when the clock is there, or with the end of the cloud never.
            Task { [weak self] in
                let moment = now.advanced(by: duration)
                guard (try? await clock.sleep(until: moment)) != nil else { return }
                self?.deliver(push, of: container, sentAfter: registrations)
            }
            return []
        }
    }

    /// Hands over a push that comes late, on the streams the device holds now and on each later one until
    /// it has handled it: the step of the clock that makes a push due may also be what ends a stream.
    private func deliver(_ push: PushFrame, of container: String, sentAfter registrations: Int) {
        let streams = change { state -> [OpenStream] in
            guard state.endedRegistrations == registrations else { return [] }
            if let id = push.notificationID { pushFaults.release(id) }
            state.overduePushes[container, default: []].append(push.bytes)
            return state.open.values.filter { $0.container == container }
        }
        for stream in streams {
            do {
                try Self.pass(push.bytes, to: stream.continuation)
            } catch {
                stream.continuation.finish(throwing: error)
            }
        }
        cloud.changes.notify()
    }
}

/// Container and environment of a request's path.
struct RequestPath: Hashable, Sendable {
    let container: String
    let environment: String

    /// Reads `/database/1/{container}/{environment}/…` and its siblings.
    init?(_ path: String) {
        let parts = path.prefix { $0 != "?" }.split(separator: "/")
        // Files are sent and fetched by URLs that name no container.
        guard parts.count > 3, parts[1] == "1", parts[0] != "assets" else { return nil }
        container = String(parts[2])
        environment = String(parts[3])
    }
}
