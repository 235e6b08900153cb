// SPDX-License-Identifier: Apache-2.0
import CloudKit

/// Returns the CKError that `body` fails with; nil when it succeeds or fails with
/// something else.
func ckError(
    isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Void
) async -> CKError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? CKError
    }
}

/// Returns the code of the CKError that `body` fails with; nil when it succeeds.
func ckCode(
    isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Void
) async -> CKError.Code? {
    await ckError(isolation: isolation, body)?.code
}

extension Result where Failure == any Error {
    /// The code of the CKError it failed with; nil for a success.
    var ckCode: CKError.Code? {
        if case .failure(let error) = self { (error as? CKError)?.code } else { nil }
    }
}

extension CKDatabase {
    /// Adds an operation and returns when it has finished, all its blocks included.
    func run(_ operation: CKDatabaseOperation) async {
        await withCheckedContinuation { continuation in
            operation.completionBlock = { continuation.resume() }
            add(operation)
        }
    }
}
