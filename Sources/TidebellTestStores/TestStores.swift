// SPDX-License-Identifier: Apache-2.0
package import Foundation
package import TidebellCore
package import TidebellEngines
import Synchronization
import TidebellSQL
import TidebellSQLite
import TidebellScheduling

/// The stores that tests run on: of one engine, which one setting names for all of them.
package enum TestStores {
    /// The environment variable that names the engine: `sqlite` where it is not set; the project's own
    /// tests have `postgres`, too.
    ///
    /// With `+twice` behind the name, `sqlite+twice`, every body of a write runs twice
    /// (``RepeatingStore``); with `+apart` every step of a write is committed by itself
    /// (``ApartStore``); with `+per-user` the notifications of each user have numbers of their
    /// own (``NotificationNumbers``); with `+per-database` each database's outbox has positions of
    /// its own (``OutboxNumbers``).
    package static let variable = "TIDEBELL_TEST_STORE"

    /// What opens the stores of tests.
    package static let factory: any StoreFactory = {
        let setting = ProcessInfo.processInfo.environment[variable] ?? StoreEngine.sqlite.rawValue
        do {
            return try factory(named: setting)
        } catch {
            preconditionFailure("\(variable) is '\(setting)': \(error)")
        }
    }()

    /// Returns what opens the stores that a value of ``variable`` means.
    package static func factory(
        named setting: String
    ) throws(UnknownStoreEngine) -> any StoreFactory {
        let wraps: [String: @Sendable (any OpenedStore) -> any OpenedStore] = [
            "+twice": { RepeatingStore($0) }, "+apart": { ApartStore($0) },
        ]
        guard let wrap = wraps.first(where: { setting.hasSuffix($0.key) }) else {
            return try single(named: setting)
        }
        let name = String(setting.dropLast(wrap.key.count))
        return WrappingFactory(base: try single(named: name), wrap: wrap.value)
    }

    private static func single(named name: String) throws(UnknownStoreEngine) -> any StoreFactory {
        if let factory = registered.withLock({ $0[name] }) { return factory }
        return switch name {
        case "sqlite+per-user": SQLiteFactory(numbers: .perUser)
        case "sqlite+per-database": SQLiteFactory(outboxNumbers: .perDatabase)
        default: try StoreEngine(named: name).factory
        }
    }

    /// Engines that only own test bundles have.
    private static let registered = Mutex<[String: any StoreFactory]>([:])

    /// Makes an engine known that not all who use these stores are built with.
    package static func register(_ factory: any StoreFactory, named name: String) {
        registered.withLock { $0[name] = factory }
    }

    /// Opens the store of a folder, made with the folder if there is none.
    package static func open(
        in folder: URL, for purpose: StorePurpose = .serving
    ) throws -> any OpenedStore {
        try factory.open(in: folder, for: purpose)
    }
}

extension StoreFactory {
    /// Opens the store of a folder on the machine's time and chance: for tests in which
    /// neither matters.
    package func open(
        in folder: URL, for purpose: StorePurpose = .serving
    ) throws(StoreOpenError) -> any OpenedStore {
        try open(in: folder, for: purpose, time: .system, randomness: .system)
    }
}
