// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Synchronization

/// The way of one device to the server: can be cut, and reports what it carries.
final class DeviceLink: Transport {
    /// What became of the device's last attempt to hold a stream open.
    enum StreamState: Sendable {
        /// No attempt, or the last one failed or ended.
        case down
        /// On its way.
        case connecting
        /// The server answers with events.
        case live
    }

    private struct State {
        var isOnline = true
        var hold: TransferHold?
        var streams: [String: StreamState] = [:]
        var cuts: [UInt64: AsyncThrowingStream<[UInt8], any Error>.Continuation] = [:]
        /// Where pushes that come late go, by container.
        var newestStreams: [String: AsyncThrowingStream<[UInt8], any Error>.Continuation] = [:]
        /// Late pushes whose moment came while no stream was open, by container: the next stream brings
        /// them. As many as the test asked for.
        var overduePushes: [String: [[UInt8]]] = [:]
        var lastID: UInt64 = 0
    }

    /// Pieces of a stream that may wait for the device before the line breaks.
    private static let waitingPieces = 4096
    /// Longer than a device waits before it connects again.
    private static let reconnectTime = Duration.seconds(60)
    /// How often that is waited for after a late push.
    private static let reconnections = 10

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
        state.withLock { $0.streams[container] ?? .down }
    }

    /// How many streams it holds open.
    var openStreams: Int { state.withLock { $0.cuts.count } }

    /// Connects the device, or cuts it off.
    func setOnline(_ isOnline: Bool) {
        state.withLock { $0.isOnline = isOnline }
        if !isOnline { cut() }
        cloud.changes.notify()
    }

    /// Breaks the streams that are open.
    func cut() {
        let cuts = state.withLock { state in
            defer { state.cuts = [:] }
            return state.cuts.values
        }
        for cut in cuts { cut.finish(throwing: TransportError.connectionLost("cut by the test")) }
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
        set(.connecting, for: container)
        do {
            let answer = try await server(for: request).stream(request)
            guard answer.status == 200 else {
                set(.down, for: container)
                return answer
            }
            let chunks = relay(answer.chunks, of: container)
            return TransportStream(headers: answer.headers, chunks: chunks)
        } catch {
            set(.down, for: container)
            throw error
        }
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

    private func set(_ streamState: StreamState, for container: String) {
        state.withLock { $0.streams[container] = streamState }
        cloud.changes.notify()
    }

    /// Passes pieces on until either side ends or the line is cut.
    private func relay(
        _ pieces: AsyncThrowingStream<[UInt8], any Error>,
        of container: String
    ) -> AsyncThrowingStream<[UInt8], any Error> {
        let (relayed, continuation) = AsyncThrowingStream.makeStream(
            of: [UInt8].self,
            bufferingPolicy: .bufferingOldest(Self.waitingPieces)
        )
        let id = state.withLock { state in
            state.lastID += 1
            state.cuts[state.lastID] = continuation
            state.newestStreams[container] = continuation
            for push in state.overduePushes.removeValue(forKey: container) ?? [] {
                continuation.yield(push)
            }
            return state.lastID
        }
        // Without a parent, as the line outlives the call that opened it; ends with
        // the line.
        let pump = Task { [weak self] in
            do {
                var frames = StreamFrames()
                for try await piece in pieces {
                    let passed = frames.take(piece).flatMap { frame in
                        self?.passed(frame, of: container) ?? [frame]
                    }
                    for frame in passed {
                        guard case .enqueued = continuation.yield(frame) else {
                            throw TransportError.connectionLost("the device reads too slowly")
                        }
                    }
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { [weak self] _ in
            pump.cancel()
            self?.state.withLock { $0.cuts[id] = nil }
            self?.set(.down, for: container)
        }
        set(.live, for: container)
        // It may have gone offline while the answer was on its way.
        if !isOnline { cut() }
        return relayed
    }

    /// Returns what the device gets of an event of its stream.
    private func passed(_ frame: [UInt8], of container: String) -> [[UInt8]] {
        guard !pushFaults.isIdle, let push = PushFrame(frame),
            let fault = pushFaults.take(for: push.payload)
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
                guard (try? await clock.sleep(for: duration)) != nil else { return }
                self?.deliver(push, of: container)
                // Where its stream has just ended the device connects again, after a pause for which
                // nobody else has time pass.
                for _ in 0..<Self.reconnections {
                    guard (try? await clock.sleep(for: Self.reconnectTime)) != nil,
                        self?.awaitsStream(of: container) == true
                    else { return }
                }
            }
            return []
        }
    }

    /// Whether a push that came late waits for the next stream.
    private func awaitsStream(of container: String) -> Bool {
        state.withLock { $0.overduePushes[container] != nil || $0.streams[container] != .live }
    }

    /// Hands over a push that comes late, on the stream the device holds now or on its next one: the
    /// step of the clock that makes a push due may also be what ends a stream.
    private func deliver(_ push: PushFrame, of container: String) {
        if let id = push.notificationID { pushFaults.release(id) }
        state.withLock { state in
            let outcome = state.newestStreams[container]?.yield(push.bytes)
            if case .enqueued? = outcome { return }
            state.overduePushes[container, default: []].append(push.bytes)
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
