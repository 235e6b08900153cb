// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPostgresClient
import TidebellSQL
import TidebellScheduling

extension CellStore {
    /// Opens the store whose directory, or only database, is at an address: ``PostgresStore``, or one of several cells.
    ///
    /// Fails where a cell cannot be opened, and where the address is that of a cell that is not the first.
    ///
    /// - Parameter mending: Whether cells get what they lack of copies, as whoever serves does (``CatalogueCopies``).
    static func open(
        at address: PostgresAddress,
        _ opening: (PostgresAddress, CellNumber) throws(StoreOpenError) -> PostgresStore,
        mending: Bool, bounds: StoreBounds, time: Time
    ) throws(StoreOpenError) -> any OpenedStore {
        let directory = try opening(address, .directory)
        do {
            let listed = try CellDirectory.cells(at: address)
            guard listed.count > 1 else { return directory }
            var stores = [CellNumber.directory: directory]
            for cell in listed {
                guard let text = cell.address else { continue }
                let address = try PostgresAddress(text)
                let store: PostgresStore
                do throws(StoreOpenError) {
                    store = try opening(address, cell.number)
                } catch {
                    guard case .unreachable(let reason) = error else { throw error }
                    throw StoreOpenError.unreachable(reason: "cell '\(cell.name)': \(reason)")
                }
                stores[cell.number] = store
                guard store.identity == directory.identity else {
                    throw StoreOpenError.unreachable(
                        reason:
                            "what is in the place of cell '\(cell.name)' (\(store.place)) is a cell of another cloud"
                    )
                }
            }
            if mending { try CatalogueCopies.mend(listed, of: address) }
            return CellStore(
                CellMap(listed, in: address, elapsed: time.elapsed), directory, stores,
                bounds: bounds, time: time)
        } catch let error as StoreOpenError {
            throw error
        } catch {
            throw .unreachable(reason: "\(error)")
        }
    }
}
