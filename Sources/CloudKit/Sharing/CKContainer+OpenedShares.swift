// SPDX-License-Identifier: Apache-2.0
public import Foundation

extension CKContainer {
    /// Sets the closure that is called when the user opens the URL of a share. Tidebell addition:
    /// it replaces `userDidAcceptCloudKitShareWith` of an app's delegate on Apple's platforms.
    ///
    /// ```swift
    /// CKContainer.registerForOpenedShares { metadata in
    ///     _ = try? await CKContainer(identifier: metadata.containerIdentifier).accept(metadata)
    /// }
    /// ```
    ///
    /// ``openShare(at:)`` calls the closure that was set last, as long as the process runs.
    public static func registerForOpenedShares(
        _ userDidAcceptCloudKitShare:
            @escaping @Sendable (_ metadata: CKShare.Metadata) async -> Void
    ) {
        session.openedShares.withLock { $0 = userDidAcceptCloudKitShare }
    }

    /// Opens the URL of a share, as the system does on Apple's platforms when the user taps it: the
    /// app gets the metadata of the share (``registerForOpenedShares(_:)``) and accepts it.
    /// Tidebell addition.
    ///
    /// The web page of the share passes the URL to the app in a link that the operator of the
    /// server sets (`tidebell serve --share-app-url`).
    ///
    /// - Parameter url: The URL, of a share of any container (SHARE-18).
    /// - Returns: The metadata of the share, after the closure has returned; also if no closure is
    ///   set.
    /// - Throws: `unknownItem` if the share does not exist or the user has no access to it;
    ///   `participantMayNeedVerification` if an address was invited that no account has, because it
    ///   may be the user's; `invalidArguments` if the URL is not that of a share; always a
    ///   ``CKError``.
    @discardableResult
    public static func openShare(at url: URL) async throws -> CKShare.Metadata {
        let metadata = try await CKContainer.default().shareMetadata(for: url)
        await session.openedShares.current?(metadata)
        return metadata
    }

    /// The device of the task, or the process.
    private static var session: DeviceSession { DeviceSession.current ?? .process }
}
