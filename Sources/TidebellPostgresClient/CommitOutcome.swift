// SPDX-License-Identifier: Apache-2.0

/// How a commit ended.
package enum CommitOutcome: Sendable, Hashable {
    /// The server said so: the transaction is durable, and on the synchronous standby if there
    /// is one.
    case committed
    /// Nothing of the transaction is there, or ever will be.
    case notCommitted(PostgresError)
    /// Nobody said: the connection ended around the commit, or the server gave up waiting for
    /// its standby, so that a failover may lose what is visible now. Look for the name of the
    /// write.
    case unknown(PostgresError)
}
