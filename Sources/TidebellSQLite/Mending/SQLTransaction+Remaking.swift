// SPDX-License-Identifier: Apache-2.0
import TidebellSQL

extension SQLTransaction {
    /// Runs what makes tables anew, which takes the triggers of the check along.
    func remakingTables<Result>(_ body: () throws -> Result) throws -> Result {
        let check = scopes as? ScopeCheck
        try check?.detach(from: connection.sqlite.database)
        let result = try body()
        try check?.attach(to: connection.sqlite.database)
        return result
    }
}
