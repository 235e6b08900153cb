// SPDX-License-Identifier: Apache-2.0
public import Foundation

extension CKContainer {
    /// Sets what the app does with a share whose URL its user opened. Tidebell addition: what
    /// `userDidAcceptCloudKitShareWith` of an app's delegate is on Apple's platforms.
    ///
    /// ```swift
    /// CKContainer.registerForOpenedShares { metadata in
    ///     _ = try? await CKContainer(identifier: metadata.containerIdentifier).accept(metadata)
    /// }
    /// ```
    ///
    /// It is called by ``openShare(at:)``, for as long as the process runs; the one set last is.
    public static func registerForOpenedShares(
        _ userDidAcceptCloudKitShare:
            @escaping @Sendable (_ metadata: CKShare.Metadata) async -> Void
    ) {
        session.openedShares.withLock { $0 = userDidAcceptCloudKitShare }
    }

    /// Opens the URL of a share, as the system does on Apple's platforms when the user taps it: the app
    /// gets what is known of the share (``registerForOpenedShares(_:)``) and accepts it. Tidebell
    /// addition.
    ///
    /// The page behind the URL hands it to the app by a link that the operator of the server sets
    /// (`tidebell serve --share-app-url`).
    ///
    /// - Parameter url: The URL, of a share of any container (SHARE-18).
    /// - Returns: What is known of the share, when the app has handled it; also without anything set.
    /// - Throws: `unknownItem` for the URL of a share that does not exist, or is closed to the user;
    ///   `participantMayNeedVerification` for that of a share to which an address was invited that
    ///   has no account, which may be the user's; `invalidArguments` for a URL that is none of a
    ///   share; always a ``CKError``.
    @discardableResult
    public static func openShare(at url: URL) async throws -> CKShare.Metadata {
        let metadata = try await CKContainer.default().shareMetadata(for: url)
        await session.openedShares.current?(metadata)
        return metadata
    }

    /// The device of the task, or the process.
    private static var session: DeviceSession { DeviceSession.current ?? .process }
}
