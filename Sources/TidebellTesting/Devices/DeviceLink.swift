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
        var answersToLose = 0
        var hold: TransferHold?
        var streams: [String: StreamState] = [:]
        var cuts: [UInt64: AsyncThrowingStream<[UInt8], any Error>.Continuation] = [:]
        var lastID: UInt64 = 0
    }

    /// Pieces of a stream that may wait for the device before the line breaks.
    private static let waitingPieces = 4096

    private let cloud: CloudState
    private let state = Mutex(State())

    init(cloud: CloudState) {
        self.cloud = cloud
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
        // The clock of the cloud stands still while a request is under way: real time ends what hangs.
        let answer = try await server(for: request).send(
            request, timeout: max(timeout, cloud.safetyLimit)
        )
        let isLost = state.withLock { state in
            guard state.answersToLose > 0 else { return false }
            state.answersToLose -= 1
            return true
        }
        guard !isLost else { throw TransportError.connectionLost("cut by the test") }
        return answer
    }

    /// Breaks the connections of the next requests, after the server answered.
    func loseAnswers(_ count: Int) {
        state.withLock { $0.answersToLose = count }
    }

    func stream(_ request: TransportRequest) async throws -> TransportStream {
        let container = RequestPath(request.path)?.container ?? ""
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
        return try await server(for: request).upload(
            request, of: file, stallTimeout: max(stallTimeout, cloud.safetyLimit)
        )
    }

    func download(_ request: TransportRequest) async throws -> TransportStream {
        let answer = try await server(for: request).download(request)
        return state.withLock { $0.hold }?.holding(answer) ?? answer
    }

    /// Stops transfers of files at a point, from the next one on.
    func hold(_ hold: TransferHold) {
        state.withLock { $0.hold = hold }
    }

    private func server(for request: TransportRequest) throws -> any Transport {
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
            return state.lastID
        }
        // Without a parent, as the line outlives the call that opened it; ends with
        // the line.
        let pump = Task {
            do {
                for try await piece in pieces {
                    guard case .enqueued = continuation.yield(piece) else {
                        throw TransportError.connectionLost("the device reads too slowly")
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
