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
                "Records that one deletion also deletes through references."),
            Self(
                "cascadedDeletionBytes", \.limits.cascadedDeletionBytes, .bytes, mega...giga,
                "Bytes of these records, if query subscriptions read them."),
            Self(
                "demandedRecords", \.limits.demandedRecords, 1...most,
                "Records whose existence one request requires."),
        ])

    static let storage = Section(
        title: "Stored data",
        limits: [
            Self(
                "userQuota", \.limits.userQuota, orNone: 0...Int64.max,
                "Bytes in all private databases of one user."),
            Self(
                "containerQuota", \.limits.containerQuota, orNone: 0...Int64.max,
                "Bytes in the public database of a container."),
            Self(
                "assetBytes", \.limits.assetBytes, 1...64 * giga,
                "Bytes of an asset, from web clients."),
            Self(
                "assetBytesForExtendedClients", \.limits.assetBytesForExtendedClients,
                1...64 * giga, "The same from the CloudKit module; at least assetBytes."),
            Self(
                "awaitedUploadsPerUser", \.limits.awaitedUploadsPerUser, 1...most,
                "Uploads that a user asked for and has not sent yet."),
            Self(
                "zonesPerDatabase", \.limits.zonesPerDatabase, 1...most,
                "Zones of one database."),
            Self(
                "indexesPerZone", \.limits.indexesPerZone, 0...1000,
                "Indexes of the records of one zone, which queries have built; 0 builds none."),
            Self(
                "participantsPerShare", \.limits.participantsPerShare, 1...most,
                "Invited participants of one share."),
            Self(
                "publicUsersPerShare", \.limits.publicUsersPerShare, 1...most,
                "Users who joined one share by its URL."),
            Self(
                "requestersPerShare", \.limits.requestersPerShare, 1...most,
                "Users who asked for access to one share and are not answered yet."),
            Self(
                "blockedPerShare", \.limits.blockedPerShare, 1...most,
                "Blocked users of one share."),
            Self(
                "movedRecords", \.limits.movedRecords, 1...most,
                "Records that enter or leave a share with the save itself; others follow."),
            Self(
                "recordsAbove", \.limits.recordsAbove, 1...most,
                "Records above the roots of a zone's shares, or above those of a page."),
            Self(
                "containersPerAccount", \.limits.containersPerAccount, 1...most,
                "Containers of one user; each environment counts separately."),
            Self(
                "recordTypesPerContainer", \.limits.recordTypesPerContainer, 1...most,
                "Record types of a container and environment."),
            Self(
                "fieldsPerType", \.limits.fieldsPerType, 1...most, "Fields of one record type."),
            Self(
                "cachedSchemaFields", \.limits.cachedSchemaFields, 0...100 * most,
                "Fields and types in the cache, some 100 bytes each."),
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
                "Devices of a user; a further one replaces the one unused for longest."),
            Self(
                "pushTokensPerUser", \.limits.pushTokensPerUser, 1...most,
                "Push tokens of a user; a further one replaces the oldest."),
            Self(
                "notificationsPerUser", \.limits.notificationsPerUser, 1...100 * most,
                "Notifications that are kept for a user, the newest ones."),
            Self(
                "keptAnswerBytes", \.limits.keptAnswerBytes, .bytes, 0...64 * giga,
                "Bytes of the answers that are kept for writes that are sent twice."),
            Self(
                "keptAnswerBytesPerUser", \.limits.keptAnswerBytesPerUser, .bytes, 0...64 * giga,
                "The same of one user."),
            Self(
                "keptAnswerLength", \.limits.keptAnswerLength, .bytes, kilo...32 * mega,
                "Bytes of one answer that is kept completely."),
        ])

    static let times = Section(
        title: "Times",
        limits: [
            Self(
                "uploadTokenLifetime", \.limits.uploadTokenLifetime, 60...day,
                "How long an upload URL is valid."),
            // A file outlives the last URL it was given out with.
            Self(
                "assetLinkLifetime", \.limits.assetLinkLifetime, 60...12 * hour,
                "How long a download URL is valid."),
            Self(
                "assetGrace", \.limits.assetGrace, 13 * hour...3650 * day,
                "How long a file is kept that no record has."),
            Self(
                "tombstoneRetention", \.limits.tombstoneRetention, day...3650 * day,
                "How long deletions are kept, and so how long change tokens are valid."),
            Self(
                "notificationRetention", \.limits.notificationRetention, hour...3650 * day,
                "How long notifications are kept for devices that are offline."),
            Self(
                "explanationRetention", \.limits.explanationRetention, 0...30 * day,
                "How long changes are kept for `tidebell push explain`; with 0, nothing is kept."),
            Self(
                "explanationBounds.changes", \.limits.explanationBounds.changes, 1...100 * most,
                "The maximum number of these changes."),
            Self(
                "explanationBounds.matches", \.limits.explanationBounds.matches, 1...100 * most,
                "The maximum number of matched subscriptions of these changes."),
            Self(
                "explanationBounds.deliveries", \.limits.explanationBounds.deliveries,
                1...100 * most, "The most of the attempts to deliver their pushes."),
            Self(
                "indexRetention", \.limits.indexRetention, day...3650 * day,
                "How long an index is kept that no query uses."),
            Self(
                "deviceRetention", \.limits.deviceRetention, day...3650 * day,
                "How long a device is kept that does not connect any more."),
            Self(
                "answerRetention", \.limits.answerRetention, 60...365 * day,
                "How long the answer to a write is kept for a device that did not receive it."),
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
        "queryLag": "of the test kit",
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
