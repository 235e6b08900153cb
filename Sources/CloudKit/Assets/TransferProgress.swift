// SPDX-License-Identifier: Apache-2.0

/// Reports to the app how far the files of each record are.
///
/// A record is whole only when it is saved or handed over, so what is reported here stays
/// below 1; it falls when a transfer begins again (SAVE-19).
final class TransferProgress: Sendable {
    /// The least share of a record's bytes that is news.
    private static let step = 0.05
    /// The largest share that is reported.
    private static let most = 0.99

    /// The files of one record together.
    private struct Share {
        var moved = 0.0
        var total = 0.0
        var reported = 0.0
    }

    private struct State {
        var shares: [Int: Share] = [:]
        /// How many bytes of each file have moved.
        var positions: [Int64]
        var hasEnded = false
    }

    private let state: Locked<State>
    private let owners: [Int]
    private let notify: @Sendable (Int, Double) -> Void

    /// Begins with nothing moved.
    ///
    /// - Parameters:
    ///   - files: The record of each file, by a number, and its size.
    ///   - notify: Called with a record's number and its share of 1.
    init(
        of files: [(owner: Int, size: Int64)], notify: @escaping @Sendable (Int, Double) -> Void
    ) {
        var state = State(positions: files.map { _ in 0 })
        for file in files { state.shares[file.owner, default: Share()].total += Double(file.size) }
        self.state = Locked(state)
        owners = files.map(\.owner)
        self.notify = notify
    }

    /// Notes how many bytes of a file have moved.
    func moved(file: Int, to position: Int64) {
        state.withLock { state in
            guard !state.hasEnded, var share = state.shares[owners[file]], share.total > 0
            else { return }
            share.moved += Double(position - state.positions[file])
            state.positions[file] = position
            let value = min(Self.most, share.moved / share.total)
            // What went back is news again when it comes.
            share.reported = min(share.reported, value)
            let isNews = value - share.reported >= Self.step
            if isNews { share.reported = value }
            state.shares[owners[file]] = share
            // Behind the lock, so that nothing is reported after the end.
            if isNews { notify(owners[file], value) }
        }
    }

    /// Reports nothing more: whoever reads a file for the network may do so a moment longer
    /// than the transfer lasts.
    func end() {
        state.withLock { $0.hasEnded = true }
    }
}
