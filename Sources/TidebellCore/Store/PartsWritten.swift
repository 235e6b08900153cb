// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What came of a write for many users (``Store/write(ofEach:_:)``).
package struct PartsWritten<Value: Sendable>: Sendable {
    /// What each part came to that was written.
    package var done: [Value] = []
    /// Why nothing was written for these users.
    package var failed: [UserID: any Error] = [:]

    fileprivate mutating func add(_ other: Self) {
        done += other.done
        failed.merge(other.failed) { first, _ in first }
    }
}

extension Store {
    /// All are in one part.
    package func parts(of users: Set<UserID>) -> [Set<UserID>] { users.isEmpty ? [] : [users] }

    /// Writes rows of many users, for which no user needs another one: positions of routes, what came of deliveries.
    /// Where that fails for some, as in an engine of which a part is away, it is done for the others.
    ///
    /// - Parameter body: Called for some of the users, all of them in the end; may come again for a user who was
    ///   done, and changes nothing then.
    package func write<Value: Sendable>(
        ofEach users: Set<UserID>,
        _ body: @escaping @Sendable (Set<UserID>, any StoreTransaction) throws -> Value
    ) async -> PartsWritten<Value> {
        let steps = parts(of: users).flatMap { part in
            let inOrder = part.sorted { $0.rawValue < $1.rawValue }
            return stride(from: 0, to: inOrder.count, by: Self.mostUsersOfStep).map {
                Set(inOrder[$0..<min($0 + Self.mostUsersOfStep, inOrder.count)])
            }
        }
        return await withTaskGroup { group in
            for users in steps { group.addTask { await self.write(users, body) } }
            return await group.reduce(into: PartsWritten()) { $0.add($1) }
        }
    }

    /// The most users of a step: each is locked.
    private static var mostUsersOfStep: Int { 64 }

    /// The same as one step, and where something of one of the users is in the way, of one after the other.
    private func write<Value: Sendable>(
        _ users: Set<UserID>,
        _ body: @escaping @Sendable (Set<UserID>, any StoreTransaction) throws -> Value
    ) async -> PartsWritten<Value> {
        var written = PartsWritten<Value>()
        do {
            written.done.append(try await write(.users(users)) { try body(users, $0) })
        } catch {
            // A store that is away, or has too much to do, is no better for one.
            guard users.count > 1, !(error is StoreUnavailable), !(error is WireError) else {
                for user in users { written.failed[user] = error }
                return written
            }
            for user in users.sorted(by: { $0.rawValue < $1.rawValue }) {
                written.add(await write([user], body))
            }
        }
        return written
    }
}
