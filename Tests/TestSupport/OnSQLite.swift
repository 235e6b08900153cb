// SPDX-License-Identifier: Apache-2.0
import Foundation
package import Testing

extension Trait where Self == ConditionTrait {
    /// For tests that look into the file of SQLite, damage it, or copy it: where `TIDEBELL_TEST_STORE` names
    /// another engine, there is none.
    package static var onSQLite: Self {
        .enabled("There is no file of SQLite.") {
            let engine = ProcessInfo.processInfo.environment["TIDEBELL_TEST_STORE"] ?? ""
            return engine.isEmpty || engine.hasPrefix("sqlite")
        }
    }
}
