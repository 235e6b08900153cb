// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Is notified of shares that the user changes on a page of the system.
///
/// Linux has no such page (SHARE-27): the blocks are kept, for code that is shared with other
/// systems, and never called. What others change comes by pushes and fetches.
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

    /// Never called: Linux has no page on which a share could be saved.
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

    /// Never called: Linux has no page on which sharing could be stopped.
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
