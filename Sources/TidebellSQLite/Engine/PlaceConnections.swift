// SPDX-License-Identifier: Apache-2.0
import GRDB
import Synchronization

/// The connections of the reads that run on the threads of their callers: one for each of the places that
/// ``ReadsInPlace`` gives out, each opened when it is first needed.
///
/// With a connection of GRDB's pool such a read would take two locks and a second transaction, in which GRDB asks whether
/// the tables changed; that takes longer than most of these reads.
final class PlaceConnections: Sendable {
    private struct State {
        var connections: [DatabaseQueue?] = Array(repeating: nil, count: ReadsInPlace.atOnce)
        var isClosed = false
    }

    private let path: String
    private let configuration: Configuration
    private let state = Mutex(State())

    /// Creates connections to a store, with the configuration of its writer.
    init(path: String, configuration: Configuration) {
        self.path = path
        var configuration = configuration
        configuration.readonly = true
        self.configuration = configuration
    }

    /// Reads with the connection of a place, which nobody else has now, without a transaction; nil where there is none: the
    /// pool may have one that is open.
    func read<Result>(at place: Int, _ read: (Database) throws -> Result?) throws -> Result? {
        try connection(of: place)?.unsafeRead(read)
    }

    private func connection(of place: Int) -> DatabaseQueue? {
        let (open, isClosed) = state.withLock { state in
            (state.isClosed ? nil : state.connections[place], state.isClosed)
        }
        guard open == nil, !isClosed else { return open }
        let new = try? DatabaseQueue(path: path, configuration: configuration)
        return state.withLock { state in
            guard !state.isClosed else { return nil }
            state.connections[place] = new
            return new
        }
    }

    /// Closes them all when what they read now is read.
    func close() throws {
        let connections = state.withLock { state in
            state.isClosed = true
            defer { state.connections = [] }
            return state.connections
        }
        let results = connections.map { connection in Result { try connection?.close() } }
        for result in results { try result.get() }
    }
}
