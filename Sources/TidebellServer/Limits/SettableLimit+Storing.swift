// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellHTTP

/// The limits of what is written and kept.
extension SettableLimit {
    static let writes = Section(
        title: "Writes",
        limits: [
            Self(
                "waitingWrites", \.store.waitingWrites, 1...most,
                "Writes that wait for the store."),
            Self(
                "waitingWritesPerCaller", \.store.waitingWritesPerCaller, 1...most,
                "The same of one user."),
            Self(
                "cascadedDeletions", \.limits.cascadedDeletions, 1...most,
                "Records that one deletion takes along through references."),
            Self(
                "cascadedDeletionBytes", \.limits.cascadedDeletionBytes, .bytes, mega...giga,
                "Bytes of these records, where query subscriptions look at them."),
            Self(
                "demandedRecords", \.limits.demandedRecords, 1...most,
                "Records that one request demands to be there."),
        ])

    static let storage = Section(
        title: "What is stored",
        limits: [
            Self(
                "userQuota", \.limits.userQuota, orNone: 0...Int64.max,
                "Bytes that the private databases of one user hold together."),
            Self(
                "containerQuota", \.limits.containerQuota, orNone: 0...Int64.max,
                "Bytes that the public database of a container holds."),
            Self(
                "assetBytes", \.limits.assetBytes, 1...64 * giga,
                "Bytes of a file of a record, from web clients."),
            Self(
                "assetBytesForExtendedClients", \.limits.assetBytesForExtendedClients,
                1...64 * giga, "The same from the CloudKit module; at least assetBytes."),
            Self(
                "awaitedUploadsPerUser", \.limits.awaitedUploadsPerUser, 1...most,
                "Uploads that a user asked for and that have not come."),
            Self(
                "zonesPerDatabase", \.limits.zonesPerDatabase, 1...most,
                "Zones of one database."),
            Self(
                "participantsPerShare", \.limits.participantsPerShare, 1...most,
                "Invited participants of one share."),
            Self(
                "publicUsersPerShare", \.limits.publicUsersPerShare, 1...most,
                "Users who joined one share by its URL."),
            Self(
                "requestersPerShare", \.limits.requestersPerShare, 1...most,
                "Users who asked for access to one share and got no answer yet."),
            Self(
                "blockedPerShare", \.limits.blockedPerShare, 1...most,
                "Users whom one share is blocked for."),
            Self(
                "movedRecords", \.limits.movedRecords, 1...most,
                "Records that come into a share or leave it with the save; more follow."),
            Self(
                "recordsAbove", \.limits.recordsAbove, 1...most,
                "Records above the roots of a zone's shares, or above those of a page."),
            Self(
                "containersPerAccount", \.limits.containersPerAccount, 1...most,
                "Containers of one user, each environment by itself."),
            Self(
                "recordTypesPerContainer", \.limits.recordTypesPerContainer, 1...most,
                "Record types of a container and environment."),
            Self(
                "fieldsPerType", \.limits.fieldsPerType, 1...most, "Fields of one record type."),
            Self(
                "cachedSchemaFields", \.limits.cachedSchemaFields, 0...100 * most,
                "Fields and types that are remembered, some 100 bytes each."),
            Self(
                "subscriptionsPerUser", \.limits.subscriptionsPerUser, 1...most,
                "Subscriptions of a user in one database."),
            Self(
                "subscriptionBytesPerUser", \.limits.subscriptionBytesPerUser, .bytes, kilo...giga,
                "Bytes of these subscriptions."),
            Self(
                "filterBytes", \.limits.filterBytes, .bytes, kilo...giga,
                "Bytes of the filters of one subscription."),
            Self(
                "notificationInfoBytes", \.limits.notificationInfoBytes, .bytes, kilo...giga,
                "Bytes of the notification info of one subscription."),
            Self(
                "devicesPerUser", \.limits.devicesPerUser, 1...most,
                "Devices of a user; one more replaces the one unused for longest."),
            Self(
                "pushTokensPerUser", \.limits.pushTokensPerUser, 1...most,
                "Push tokens of a user; one more replaces the oldest."),
            Self(
                "notificationsPerUser", \.limits.notificationsPerUser, 1...100 * most,
                "The newest notifications that are kept for a user."),
            Self(
                "keptAnswerBytes", \.limits.keptAnswerBytes, .bytes, 0...64 * giga,
                "Bytes of the answers that are kept for writes sent twice."),
            Self(
                "keptAnswerBytesPerUser", \.limits.keptAnswerBytesPerUser, .bytes, 0...64 * giga,
                "The same of one user."),
            Self(
                "keptAnswerLength", \.limits.keptAnswerLength, .bytes, kilo...32 * mega,
                "Bytes of one answer that is kept whole."),
        ])

    static let times = Section(
        title: "How long things are kept",
        limits: [
            Self(
                "uploadTokenLifetime", \.limits.uploadTokenLifetime, 60...day,
                "How long an upload URL is good for."),
            // A file outlives the last URL it was given out with.
            Self(
                "assetLinkLifetime", \.limits.assetLinkLifetime, 60...12 * hour,
                "How long a download URL is good for."),
            Self(
                "assetGrace", \.limits.assetGrace, 13 * hour...3650 * day,
                "How long a file is kept that no record holds."),
            Self(
                "tombstoneRetention", \.limits.tombstoneRetention, day...3650 * day,
                "How long deletions are remembered, and so change tokens are good."),
            Self(
                "notificationRetention", \.limits.notificationRetention, hour...3650 * day,
                "How long notifications are kept for devices that are away."),
            Self(
                "explanationRetention", \.limits.explanationRetention, 0...30 * day,
                "How long changes are kept for `tidebell push explain`; 0 keeps nothing."),
            Self(
                "explanationBounds.changes", \.limits.explanationBounds.changes, 1...100 * most,
                "The most of these changes."),
            Self(
                "explanationBounds.matches", \.limits.explanationBounds.matches, 1...100 * most,
                "The most of the subscriptions that they matched."),
            Self(
                "explanationBounds.deliveries", \.limits.explanationBounds.deliveries,
                1...100 * most, "The most of the attempts to deliver their pushes."),
            Self(
                "deviceRetention", \.limits.deviceRetention, day...3650 * day,
                "How long a device is kept that does not come back."),
            Self(
                "answerRetention", \.limits.answerRetention, 60...365 * day,
                "How long the answer to a write is kept for a device that lost it."),
        ])

    /// What an operator cannot set of ``Limits``, and why.
    package static let fixedLimits: [String: String] = [
        "itemsPerRequest": "Apple's (LIMIT-5)",
        "itemsPerExtendedRequest": "Apple's (LIMIT-1)",
        "recordsPerPage": "Apple's (LIMIT-5)",
        "recordsPerExtendedPage": "the module asks for pages of this size",
        "zonesPerPage": "a page is as long as clients expect; pages go on",
        "notificationsPerPage": "a page is as long as clients expect; pages go on",
        "requestBytes": "Apple's (LIMIT-2)",
        "recordBytes": "Apple's (LIMIT-4)",
        "nameLength": "Apple's (LIMIT-11)",
        "deleteSelfReferences": "Apple's (REF-4, LIMIT-7)",
        "duplicateSubscriptions": "a policy: serve --duplicate-subscriptions",
        "strictness": "a policy: serve --strictness",
        "typesQueryableByName": "of the test kit",
        "knownContainers": "of the test kit",
        "existingRecords": "a policy: serve --existing-records",
    ]

    /// What an operator cannot set of ``ShareLimits`` by a number, and why.
    package static let fixedShares: [String: String] = [
        "countsLoopback": "a policy: serve --count-loopback",
        "opensPrivateNetwork": "a policy: serve --allow-private-network",
        "trustedProxies": "addresses: serve --trusted-proxy",
        "refusalTime": "the answer that refuses a connection gets no more time",
        "lingerTime": "what is answered is over: it only lets a client read why",
        "lingerPause": "what is answered is over: it only lets a client read why",
    ]

    /// What an operator cannot set of ``StoreBounds``, and why.
    package static let fixedStore: [String: String] = [
        "commitTime": "it is what others wait for one transaction, however large a crowd is"
    ]
}
