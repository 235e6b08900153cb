// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellWire

/// Remembers for a moment which callers have which tokens, so that a busy client
/// does not cost a look-up per request.
///
/// Only known callers are remembered: a token works as soon as it exists. A
/// removed token reads for ``lifetime`` at most; it writes nothing any more, since every
/// write looks at it in its own transaction (``Exchange/transaction(_:)``).
final class CallerCache: Sendable {
    /// How long a caller is remembered.
    static let lifetime = Duration.seconds(5)
    /// The most callers remembered.
    static let capacity = 10_000

    /// What a caller presents: hashes, so that no token stays in memory.
    struct Credentials: Sendable, Hashable {
        var container: ContainerKey
        /// Nil for a program that signed its request.
        var apiTokenHash: [UInt8]?
        var webTokenHash: WebTokenHash?
    }

    /// A caller whose tokens are good.
    struct Caller: Sendable {
        /// Nil for a caller with an API token only.
        var user: StoredUser?
        /// The session of the web token; nil likewise.
        var session: SessionID?
        /// The only container where the web token is good; nil for everywhere.
        var onlyContainer: ContainerKey?
        /// The web token to use from now on; returned once.
        var nextWebToken: String?
    }

    private struct Entry {
        var caller: Caller
        /// On a clock that nobody sets: a disabled user is not served for longer because the
        /// time of day goes back.
        var expiresAt: Duration
    }

    private let entries = Mutex<[Credentials: Entry]>([:])
    private let elapsed: @Sendable () -> Duration

    /// Creates a cache that measures with a clock that nobody sets.
    init(elapsed: @escaping @Sendable () -> Duration) {
        self.elapsed = elapsed
    }

    /// Returns the remembered caller.
    func caller(with credentials: Credentials) -> Caller? {
        let now = elapsed()
        return entries.withLock { entries in
            guard let entry = entries[credentials], entry.expiresAt > now else { return nil }
            return entry.caller
        }
    }

    /// Remembers a caller.
    func remember(_ caller: Caller, for credentials: Credentials) {
        let now = elapsed()
        entries.withLock { entries in
            if entries.count >= Self.capacity { entries = entries.filter { $1.expiresAt > now } }
            // All of them busy: starting afresh costs each one look-up.
            if entries.count >= Self.capacity { entries = [:] }
            entries[credentials] = Entry(
                caller: Caller(
                    user: caller.user, session: caller.session,
                    onlyContainer: caller.onlyContainer),
                expiresAt: now + Self.lifetime
            )
        }
    }
}
