// SPDX-License-Identifier: Apache-2.0
import TidebellScheduling

/// A body that whoever sends it asks for what there is, so that thousands which wait for something
/// to send need no task each.
package protocol Feed: Sendable {
    /// Takes what is to be sent now, without waiting for anything.
    mutating func take() -> FeedStep
    /// Does what has to be waited for before there is more, when ``take()`` says so.
    mutating func prepare() async throws
    /// Learns that what was taken last was handed to the connection.
    mutating func wasSent()
    /// Has `follower` called, on any thread, when there is something after ``take()`` found nothing;
    /// instead of one before.
    func follow(_ follower: @escaping @Sendable () -> Void)
}

/// What there is to do for a feed.
package enum FeedStep: Sendable, Hashable {
    /// To be sent in one write: pieces of it, which several connections may share.
    case pieces([[UInt8]])
    /// Waiting for ``Feed/prepare()``.
    case unprepared
    /// Nothing, until the follower is called.
    case nothing
    case ended
}

extension Feed {
    /// Writes all that comes, in a task that waits for it, until the feed ends or the task is
    /// cancelled: for receivers in the same process.
    mutating func produce(to writer: inout any BodyWriter) async throws {
        let wake = WakeSignal()
        follow { wake.raise() }
        while !Task.isCancelled {
            switch take() {
            case .pieces(let pieces):
                try await writer.write(pieces.count == 1 ? pieces[0] : Array(pieces.joined()))
                wasSent()
            case .unprepared:
                do {
                    try await prepare()
                } catch  where Task.isCancelled {
                    return
                }
            case .nothing: guard await wake.wait() else { return }
            case .ended: return
            }
        }
    }
}
