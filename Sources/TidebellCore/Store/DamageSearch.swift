// SPDX-License-Identifier: Apache-2.0

/// How the operator of a cloud finds what of it is damaged, which depends on the engine of its store.
package enum DamageSearch: Sendable, Hashable {
    /// `tidebell check` names all of it.
    case check
    /// The store is in a database of PostgreSQL, which has tools of its own and which `tidebell check` does not read.
    case toolsOfPostgreSQL

    /// Where the operator finds it, for a client, who sees nothing of the machine: it follows "finds it".
    package var whereabouts: String {
        switch self {
        case .check: "with 'tidebell check'"
        case .toolsOfPostgreSQL: "in the server's log"
        }
    }

    /// What the operator is to do, for the log.
    package var advice: String {
        switch self {
        case .check: "run 'tidebell check'"
        case .toolsOfPostgreSQL: "run 'pg_amcheck' on its database"
        }
    }
}
