// SPDX-License-Identifier: Apache-2.0
import Foundation

// Long-lived operations (OP-9): `CKModifyRecordsOperation` and `CKFetchRecordsOperation`,
// unless the latter asks for the user's record. They are kept in the device's state
// folder while they run. When the process ends before them, another one of the same
// device lists them, fetches them, sets their callbacks and runs them: what was answered
// is replayed without a request, what was not is sent under the ID it had, and so done
// once. Nothing works on them in between.
extension CKContainer {
    /// Fetches the IDs of the long-lived operations that are not finished.
    @preconcurrency
    public func fetchAllLongLivedOperationIDs(
        completionHandler: @escaping @Sendable ([CKOperation.ID]?, (any Error)?) -> Void
    ) {
        Task {
            do {
                completionHandler(try await self.allLongLivedOperationIDs(), nil)
            } catch {
                completionHandler(nil, error)
            }
        }
    }

    /// Returns the IDs of the long-lived operations that are not finished.
    ///
    /// Operations whose callbacks the app has not received within 24 hours are removed (LIMIT-13).
    public func allLongLivedOperationIDs() async throws -> [CKOperation.ID] {
        try LongLivedOperations(of: connection)?.ids() ?? []
    }

    /// Fetches a long-lived operation; nil when it is finished, cancelled or unknown.
    @preconcurrency
    public func fetchLongLivedOperation(
        withID operationID: CKOperation.ID,
        completionHandler: @escaping @Sendable (CKOperation?, (any Error)?) -> Void
    ) {
        Task {
            do {
                completionHandler(try await self.longLivedOperation(for: operationID), nil)
            } catch {
                completionHandler(nil, error)
            }
        }
    }

    /// Returns a long-lived operation; nil when it is finished, cancelled or unknown.
    ///
    /// Set its callbacks and run it: all callbacks are called, from the beginning. If this process
    /// runs the operation already, the new one waits for it.
    public func longLivedOperation(for operationID: CKOperation.ID) async throws -> CKOperation? {
        guard let known = try LongLivedOperations(of: connection)?.load(operationID) else {
            return nil
        }
        let operation = known.operation.makeOperation(in: self)
        operation.journal = known.journal
        return operation
    }
}
