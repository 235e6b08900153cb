// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellHTTP

/// The limits of a ``TestCloud``'s server, so that a test can reach them with little data.
///
/// ```swift
/// let cloud = try await TestCloud(limits: ServerLimits(itemsPerRequest: 2, bytesPerUser: 10_000))
/// ```
///
/// A limit that is nil has the default of `tidebell serve`, which is CloudKit's if that is
/// documented.
public struct ServerLimits: Sendable, Hashable {
    /// Items of one request; more fail with `limitExceeded` (400, LIMIT-1).
    public var itemsPerRequest: Int?
    /// Records, or zones, in one page of changes or of a query: `moreComing` (1000, of zones 200).
    public var itemsPerPage: Int?
    /// Bytes of one record without its files; more fail with `limitExceeded` (1 MB, LIMIT-4).
    public var bytesPerRecord: Int?
    /// Bytes of one file; more fail with `limitExceeded` (250 MB).
    public var bytesPerAsset: Int?
    /// Bytes in a user's private databases; more fail with `quotaExceeded` (10 GB, ACCT-9).
    public var bytesPerUser: Int?
    /// Bytes in the public database of a container; more fail with `quotaExceeded` (100 GB).
    public var bytesPerPublicDatabase: Int?
    /// Zones of one database (10,000).
    public var zonesPerDatabase: Int?
    /// Subscriptions of one user in one database (1000, SUB-45).
    public var subscriptionsPerUser: Int?
    /// Participants of one share; more fail with `tooManyParticipants` (100, SHARE-11).
    public var participantsPerShare: Int?
    /// How long change tokens stay valid after something was deleted (30 days, TOK-22).
    public var tokenLifetime: Duration?
    /// How long queries do not find what was saved, by the cloud's clock (no time, QUERY-18): Apple's
    /// indexes are a few seconds behind, and an app that queries at once what it saved misses it there.
    /// Records are fetched by their IDs and zones by their changes all the same.
    public var queryLag: Duration?
    /// Requests of one user per second; more fail with `requestRateLimited` (no limit). Seconds are
    /// those of the cloud's clock: while it stands still, all requests are in one second.
    public var requestsPerSecond: Int?

    /// Creates limits.
    public init(
        itemsPerRequest: Int? = nil,
        itemsPerPage: Int? = nil,
        bytesPerRecord: Int? = nil,
        bytesPerAsset: Int? = nil,
        bytesPerUser: Int? = nil,
        bytesPerPublicDatabase: Int? = nil,
        zonesPerDatabase: Int? = nil,
        subscriptionsPerUser: Int? = nil,
        participantsPerShare: Int? = nil,
        tokenLifetime: Duration? = nil,
        queryLag: Duration? = nil,
        requestsPerSecond: Int? = nil
    ) {
        self.itemsPerRequest = itemsPerRequest
        self.itemsPerPage = itemsPerPage
        self.bytesPerRecord = bytesPerRecord
        self.bytesPerAsset = bytesPerAsset
        self.bytesPerUser = bytesPerUser
        self.bytesPerPublicDatabase = bytesPerPublicDatabase
        self.zonesPerDatabase = zonesPerDatabase
        self.subscriptionsPerUser = subscriptionsPerUser
        self.participantsPerShare = participantsPerShare
        self.tokenLifetime = tokenLifetime
        self.queryLag = queryLag
        self.requestsPerSecond = requestsPerSecond
    }

    /// The limits as the rules have them.
    var rules: Limits {
        var limits = Limits()
        if let itemsPerRequest { limits.itemsPerExtendedRequest = itemsPerRequest }
        if let itemsPerPage {
            limits.recordsPerPage = itemsPerPage
            limits.recordsPerExtendedPage = itemsPerPage
            limits.zonesPerPage = itemsPerPage
        }
        if let bytesPerRecord { limits.recordBytes = bytesPerRecord }
        if let bytesPerAsset { limits.assetBytesForExtendedClients = Int64(bytesPerAsset) }
        if let bytesPerUser { limits.userQuota = Int64(bytesPerUser) }
        if let bytesPerPublicDatabase { limits.containerQuota = Int64(bytesPerPublicDatabase) }
        if let zonesPerDatabase { limits.zonesPerDatabase = zonesPerDatabase }
        if let subscriptionsPerUser { limits.subscriptionsPerUser = subscriptionsPerUser }
        if let participantsPerShare { limits.participantsPerShare = participantsPerShare }
        if let tokenLifetime { limits.tombstoneRetention = tokenLifetime }
        if let queryLag { limits.queryLag = queryLag }
        return limits
    }

    /// Sets what one caller may take of the server.
    func apply(to shares: inout ShareLimits) {
        guard let requestsPerSecond else { return }
        shares.requestsPerSecond = requestsPerSecond
        shares.burstSeconds = 1
        shares.countsLoopback = true
    }
}

extension TestCloud {
    /// Changes the limits of the server, which is restarted for it as in ``restart()``.
    ///
    /// ```swift
    /// try await cloud.set(ServerLimits(bytesPerUser: 10_000))
    /// ```
    public func set(_ limits: ServerLimits) async throws {
        try await stop()
        state.set(limits)
        try await start()
    }
}
