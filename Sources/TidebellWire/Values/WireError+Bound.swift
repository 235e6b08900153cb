// SPDX-License-Identifier: Apache-2.0

extension WireError {
    /// A bound that a request or a connection was refused by, or that took something away
    /// from a caller: what the server counts refusals by, and the name an operator sets it by, or
    /// the part of it before the dot.
    package enum Bound: String, Sendable, Hashable, CaseIterable {
        /// Connections of all.
        case connections
        /// Connections from one address.
        case connectionsPerAddress
        /// Bytes or fields of the head of a request.
        case headBytes
        /// Bytes of the bodies of requests and answers.
        case bodyBytes
        /// The same of one caller.
        case bodyBytesPerCaller
        /// The time a request may take to arrive.
        case bodyTime
        /// What a client takes of its answers.
        case leastAnswerRate
        /// Requests a second of one caller.
        case requestsPerSecond
        /// Streams and polls of all.
        case heldRequests
        /// The same of one caller.
        case heldRequestsPerCaller
        /// Polls of one courier.
        case courierPolls
        /// Uploads, or downloads, of all.
        case transfers
        /// The same of one caller.
        case transfersPerCaller
        /// Sign-ins that wait for their turn.
        case waitingSignIns
        /// Wrong passwords for one account.
        case wrongPasswords
        /// Wrong passwords from one address.
        case wrongPasswordsPerAddress
        /// New users by the sign-in page.
        case signUps
        /// The same from one address.
        case signUpsPerAddress
        /// Signed-in devices of an account, each begun with the one before.
        case signInsPerAccount
        /// The same of web pages.
        case pagesPerAccount
        /// Long reads that wait.
        case longReads
        /// Writes that wait for the store.
        case waitingWrites
        /// The same of one caller.
        case waitingWritesPerCaller
        /// Reads that wait for the store.
        case waitingReads
        /// What a query with an order looks at.
        case querySort
        /// Bytes of the records that one request names.
        case namedRecordBytes
        case userQuota
        case containerQuota
        case zonesPerDatabase
        case containersPerAccount
        case recordTypesPerContainer
        case fieldsPerType
        case subscriptionsPerUser
        case subscriptionBytesPerUser
        /// Bytes of the filters of one subscription.
        case filterBytes
        /// Bytes of what one subscription sets for its pushes.
        case notificationInfoBytes
        /// Records that a deletion takes along.
        case cascadedDeletions
        /// Bytes of these records.
        case cascadedDeletionBytes
        /// Records that a request demands to be there.
        case demandedRecords
        /// Invited participants of a share.
        case participantsPerShare
        /// Users who joined a share by its URL.
        case publicUsersPerShare
        /// Users who asked for access to a share and got no answer yet.
        case requestersPerShare
        /// Users whom a share is blocked for.
        case blockedPerShare
        /// Records above the roots of shares, or above others while hierarchies are settled.
        case recordsAbove
        /// Bytes of a file, from whatever client.
        case assetBytes
        /// Uploads that were asked for and have not come.
        case awaitedUploadsPerUser
        /// Push tokens; the oldest one went.
        case pushTokensPerUser
        /// Bytes of one request body, which no operator sets (LIMIT-2).
        case requestBytes
    }

    /// What an error holds for the server itself: no part of the answer, and of no weight when
    /// errors are compared.
    struct ServerOnly: Sendable, Hashable {
        var bound: Bound?

        static func == (_: ServerOnly, _: ServerOnly) -> Bool { true }

        func hash(into _: inout Hasher) {}
    }

    /// Returns the same error with the bound that is its reason, which it names.
    package func naming(_ bound: Bound) -> WireError {
        var error = self
        error.serverOnly.bound = bound
        if !reason.contains("(\(bound.rawValue)") { error.reason += " (\(bound.rawValue))" }
        return error
    }

    /// The bound that is the reason; nil for another reason, and for what a client received.
    package var bound: Bound? { serverOnly.bound }
}
