// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// The bounds and policies of the rules (LIMIT-20); defaults are CloudKit's.
///
/// An operator sets them by name, with `tidebell serve --limit`; those that are Apple's own, or of
/// the clients, are fixed. `TidebellServer/Limits` lists both, and a test that none is forgotten.
package struct Limits: Sendable, Hashable {
    /// Operations or items in one request of a plain web client (LIMIT-5).
    package var itemsPerRequest = WireProtocol.itemLimit
    /// The same for a client that opted into the extensions (LIMIT-1).
    package var itemsPerExtendedRequest = WireProtocol.extendedItemLimit
    /// Records in one page of changes or of a query (LIMIT-5).
    package var recordsPerPage = WireProtocol.pageLimit
    /// The same for a client that opted into the extensions and asks for more.
    package var recordsPerExtendedPage = 1000
    /// Bytes of fields in one page of a query, or in the pages of changes of all zones
    /// of a request: the record that passes it is the last one.
    package var pageBytes = 4 * 1024 * 1024
    /// Bytes of the fields of all records that one request looks up or changes, and so
    /// of its answer; several times what a request body brings.
    package var namedRecordBytes = 32 * 1024 * 1024
    /// What one page of a query without order looks at; then it ends, be it ever
    /// so short, and the next one goes on from there (QUERY-16).
    package var queryScan = ScanBound(records: 100_000, bytes: 256 * 1024 * 1024)
    /// What one page of a query with an order looks at, which is all records of
    /// the type; a query that would need more is refused.
    package var querySort = ScanBound(records: 100_000, bytes: 128 * 1024 * 1024)
    /// Indexes of one zone; a query that would need one more looks through the records.
    package var indexesPerZone = 32
    /// How long an index is kept that no query uses.
    package var indexRetention = Duration.seconds(14 * 24 * 3600)
    /// How long queries do not find what was saved (QUERY-18): to test apps with.
    package var queryLag = Duration.zero
    /// What a query may look at before it waits for one of the ``longReads``.
    package var quickQuery = ReadBudget(records: 500, bytes: 512 * 1024)
    /// The same for a page of changes, and for records by name.
    package var quickPage = ReadBudget(records: 1000, bytes: 1024 * 1024)
    /// The bounds of reads that look at more.
    package var longReads = LongReadBounds()
    /// Zones in one page of database changes.
    package var zonesPerPage = 200
    /// Bytes of one request body: LIMIT-2's 2 MB and room for JSON.
    package var requestBytes = 4 * 1024 * 1024
    /// Bytes of one record's fields, assets excluded (LIMIT-4).
    package var recordBytes = 1024 * 1024
    /// Bytes of a subscription's notification info as JSON.
    package var notificationInfoBytes = 64 * 1024
    /// Bytes of a subscription's filters as JSON.
    package var filterBytes = 64 * 1024
    /// Notifications in one page of the history.
    package var notificationsPerPage = 200
    /// Characters of a record, zone, field or subscription name (LIMIT-11).
    package var nameLength = 255
    /// Subscriptions of one user in one database (SUB-45).
    package var subscriptionsPerUser = 1000
    /// Bytes of all subscriptions of one user in one database, as JSON: their filters are
    /// looked at by every change that may concern them.
    package var subscriptionBytesPerUser = 1024 * 1024
    /// Bytes that one person's private databases hold together, see ``StorageUse``
    /// (ACCT-9); nil for no bound.
    package var userQuota: Int64? = 10 << 30
    /// Bytes that the public database of a container holds; nil for no bound.
    package var containerQuota: Int64? = 100 << 30
    /// Zones that live in one database.
    package var zonesPerDatabase = 10_000
    /// Record types of one container and environment.
    package var recordTypesPerContainer = 1000
    /// Fields of one record type.
    package var fieldsPerType = 1000
    /// Fields and types of all containers that are remembered from call to call; some 100
    /// bytes each.
    package var cachedSchemaFields = 50_000
    /// Devices of one user; one more replaces the one unused for longest.
    package var devicesPerUser = 1000
    /// Containers that one account has a user in, each environment by itself (ACCT-5).
    package var containersPerAccount = 100
    /// Devices of one account that are signed in to a container; one more signs the one out
    /// that would expire first, and what was begun with it.
    package var signInsPerAccount = 1000
    /// The same of web pages (ACCT-10).
    package var pagesPerAccount = 100
    /// Uploads one user has asked for that have not come.
    package var awaitedUploadsPerUser = 1000
    /// The newest notifications that are kept for one user.
    package var notificationsPerUser = 10_000
    /// Which subscriptions count as duplicates of others (SUB-34).
    package var duplicateSubscriptions = DuplicatePolicy.standard
    /// Whether what Apple refuses is refused where it would work here.
    package var strictness = Strictness.lenient
    /// The record types whose `recordName` is queryable; only where ``strictness`` is Apple's
    /// (QUERY-14).
    package var typesQueryableByName: Set<String> = []
    /// The containers that there are; nil for any that somebody names (ERR-14).
    package var knownContainers: Set<String>?
    /// The answer to saving a new record whose ID exists (SAVE-8).
    package var existingRecords = ExistingRecordPolicy.standard
    /// Push tokens of one user (WS:PropertyMetrics).
    package var pushTokensPerUser = 200
    /// Records that refer to one record with `DELETE_SELF` (REF-4, LIMIT-7).
    package var deleteSelfReferences = 750
    /// Records that one deletion may take along through references.
    package var cascadedDeletions = 10_000
    /// Bytes of their fields, where query subscriptions demand that they are looked at.
    package var cascadedDeletionBytes = 64 * 1024 * 1024
    /// Records that one request demands to be there, as parents or with `VALIDATE`.
    package var demandedRecords = 5000
    /// Participants of one share beside its owner and those who joined by its URL (SHARE-11).
    package var participantsPerShare = 100
    /// Users who joined one share by its URL (SHARE-7); Apple names no number.
    package var publicUsersPerShare = 1000
    /// Users who asked for access to one share and got no answer yet (SHARE-21); Apple names no
    /// number.
    package var requestersPerShare = 100
    /// Users whom one share is blocked for; likewise.
    package var blockedPerShare = 1000
    /// Records that come into a hierarchy that is shared, or leave it, with the save itself; where
    /// they are more, all that hang below what is saved follow step by step.
    package var movedRecords = 400
    /// Records that are looked at above others: in a zone that is not settled, for one page or the
    /// records that a call names; and above the roots of all shares of a zone, where what comes into
    /// a hierarchy is more than ``movedRecords``.
    package var recordsAbove = 20_000
    /// Bytes of a file that a plain web client uploads (ASSET-7).
    package var assetBytes: Int64 = 50 * 1024 * 1024
    /// The same for a client that opted into the extensions; Apple names no number for
    /// apps.
    package var assetBytesForExtendedClients: Int64 = 250 * 1024 * 1024
    /// How long an upload URL is good for (web-services 5.9).
    package var uploadTokenLifetime = Duration.seconds(15 * 60)
    /// How long a download URL is good for; shorter than ``assetGrace``, so that a
    /// file outlives the last URL it was given out with.
    package var assetLinkLifetime = Duration.seconds(4 * 3600)
    /// How long a file is kept that no record holds, not yet or no more (ASSET-4).
    package var assetGrace = Duration.seconds(24 * 3600)
    /// How long tombstones are kept, and so change tokens stay valid (TOK-22).
    package var tombstoneRetention = Duration.seconds(30 * 24 * 3600)
    /// How long notifications are kept for devices that are away (NOTIF-15).
    package var notificationRetention = Duration.seconds(30 * 24 * 3600)

    /// How long a processed change, its matches and the routes' attempts are kept for
    /// explanations; zero keeps nothing.
    package var explanationRetention = Duration.seconds(24 * 3600)
    /// The most of them, whatever their age; about 250 MB where all are full.
    package var explanationBounds = ExplanationBounds(
        changes: 100_000, matches: 1_000_000, deliveries: 1_000_000
    )
    /// How long a device is kept that neither connects nor registers; then it and
    /// its push tokens go, and it begins anew when it comes back.
    package var deviceRetention = Duration.seconds(180 * 24 * 3600)

    /// How long the answer to a write is kept for a device that lost it.
    package var answerRetention = Duration.seconds(24 * 3600)
    /// Bytes of all answers kept, whatever their age; the oldest go first, of
    /// who has most.
    package var keptAnswerBytes = 64 * 1024 * 1024
    /// The same of one user: what one user writes pushes out no answer of another.
    package var keptAnswerBytesPerUser = 4 * 1024 * 1024
    /// Bytes of one answer that is kept whole. Of a longer one to a batch of records is
    /// kept what was done, without fields and without the server's versions in conflicts;
    /// of one that did nothing, nothing.
    package var keptAnswerLength = 1024 * 1024

    /// Creates the default limits.
    package init() {}

    /// The most items in one of this caller's requests.
    package func items(forExtendedClient isExtended: Bool) -> Int {
        isExtended ? itemsPerExtendedRequest : itemsPerRequest
    }

    /// The most bytes of a file of this caller's.
    package func assetBytes(forExtendedClient isExtended: Bool) -> Int64 {
        isExtended ? max(assetBytes, assetBytesForExtendedClients) : assetBytes
    }
}

/// How much one call reads through.
package struct ScanBound: Sendable, Hashable {
    package var records: Int
    /// Bytes of fields.
    package var bytes: Int

    /// Creates a bound.
    package init(records: Int, bytes: Int) {
        self.records = records
        self.bytes = bytes
    }

    /// Whether what was counted is no more than may be.
    var isKept: Bool { records >= 0 && bytes >= 0 }

    /// Counts a record; false once the bound is passed.
    mutating func admits(_ record: StoredRecord) -> Bool {
        records -= 1
        bytes -= record.fields.json.count
        return isKept
    }
}
