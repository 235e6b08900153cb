// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellSQLite

/// The engines that a store can be kept by: the one list of them.
///
/// What is no call of a store (backups, checks, restores, the names of files) is the engine's own;
/// `TidebellServer` does it with that of SQLite.
package enum StoreEngine: String, Sendable, CaseIterable {
    /// One file in the data folder.
    case sqlite

    /// The engine of clouds for which nobody chooses another.
    package static let standard = StoreEngine.sqlite

    /// Returns the engine that a setting names.
    package init(named name: String) throws(UnknownStoreEngine) {
        guard let engine = Self(rawValue: name) else { throw UnknownStoreEngine(name: name) }
        self = engine
    }

    /// What opens stores of the engine.
    package var factory: any StoreFactory {
        switch self {
        case .sqlite: SQLiteFactory()
        }
    }
}

/// A setting names an engine that there is not.
package struct UnknownStoreEngine: Error, Sendable, Hashable, CustomStringConvertible {
    package var name: String

    package var description: String {
        let known = StoreEngine.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        return "there is no store engine '\(name)'; there is \(known)."
    }
}
