// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Observes shares that the user changes in the system's user interface for sharing.
///
/// Linux has no such user interface (SHARE-27): the blocks are stored, for code that also runs on
/// other systems, but never called. Changes by other users arrive by pushes and fetches.
/// See <https://developer.apple.com/documentation/cloudkit/cksystemsharinguiobserver>.
open class CKSystemSharingUIObserver: NSObject, @unchecked Sendable {
    // Sendable: the blocks are behind a lock.
    private let blocks = Locked(Blocks())

    private struct Blocks: Sendable {
        var didSave: (@Sendable (CKRecord.ID, Result<CKShare, any Error>) -> Void)?
        var didStop: (@Sendable (CKRecord.ID, Result<Void, any Error>) -> Void)?
    }

    /// Creates an observer of the shares of a container.
    public init(container: CKContainer) {
        super.init()
    }

    /// Never called, because Linux has no user interface for saving a share.
    open var systemSharingUIDidSaveShareBlock:
        (
            @Sendable (
                _ recordID: CKRecord.ID, _ saveResult: Result<CKShare, any Error>
            ) -> Void
        )?
    {
        get { blocks.current.didSave }
        set { blocks.withLock { $0.didSave = newValue } }
    }

    /// Never called, because Linux has no user interface for stopping to share.
    open var systemSharingUIDidStopSharingBlock:
        (
            @Sendable (
                _ recordID: CKRecord.ID, _ deleteResult: Result<Void, any Error>
            ) -> Void
        )?
    {
        get { blocks.current.didStop }
        set { blocks.withLock { $0.didStop = newValue } }
    }
}
