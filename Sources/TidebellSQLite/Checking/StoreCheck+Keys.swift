// SPDX-License-Identifier: Apache-2.0
import GRDB
package import TidebellCore
import TidebellSQL

extension StoreCheck {
    /// Keys that are read at once.
    private static let keysAtOnce = 1000

    /// Adds the zones of the store at `path` whose key of encrypted fields `opens` refuses,
    /// of those that are wrapped by this root key.
    package static func addUnreadableKeys(
        wrappedBy rootKeyID: String, ofStoreAt path: String, to findings: inout StoreFindings,
        opens: (WrappedZoneKey) -> Bool
    ) throws {
        do {
            let queue = try SQLiteStore.queueThatOnlyReads(path)
            defer { try? queue.close() }
            try queue.read { database in
                let check = StoreCheck(Connection(database))
                let reader = SQLReader(check.connection, .short)
                var last: ZoneKey?
                while true {
                    let keys = try reader.zoneKeys(
                        wrappedBy: rootKeyID, after: last, limit: keysAtOnce)
                    for key in keys where !opens(key) {
                        var problem = try check.location(of: key.zone.rawValue)
                        problem.problem =
                            "the key of the zone's encrypted fields cannot be opened: it was "
                            + "damaged, or is not one of the root key's"
                        findings.add(problem)
                    }
                    last = keys.last?.zone
                    guard keys.count == keysAtOnce else { return }
                }
            }
        } catch {
            throw StoreOpenError(error, path: path)
        }
    }
}
