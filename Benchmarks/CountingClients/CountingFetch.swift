// SPDX-License-Identifier: Apache-2.0
package import CloudKit

/// A fetch of one zone that counts its records and keeps none.
package enum CountingFetch {
    package static func run(_ zoneID: CKRecordZone.ID, in database: CKDatabase) async throws -> Int
    {
        let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: [zoneID])
        return try await withCheckedThrowingContinuation { continuation in
            var count = 0
            operation.recordWasChangedBlock = { _, result in
                if case .success = result { count += 1 }
            }
            operation.fetchRecordZoneChangesResultBlock = { result in
                continuation.resume(with: result.map { count })
            }
            database.add(operation)
        }
    }
}
