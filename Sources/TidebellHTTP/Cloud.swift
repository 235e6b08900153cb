// SPDX-License-Identifier: Apache-2.0
import Foundation
package import Logging
package import TidebellCore
package import TidebellPush
package import TidebellScheduling
package import TidebellWire

/// What the API works with: the store, the pipeline's ends, time and chance.
package struct Cloud: Sendable {
    package var store: any Store
    package var streams: DeviceStreams
    package var couriers: CourierMailboxes
    /// What the routes did.
    package var journal: DeliveryJournal
    /// Called with every native push token that was registered.
    package var nativeTokenRegistered: @Sendable (StoredPushToken, ContainerKey) -> Void
    /// Called with how each page of a query was found.
    package var noteQuery: @Sendable (QueryReport) -> Void
    /// Which tokens were used, until the store has them.
    package var tokenUses: TokenUses
    /// The topic of a container's native pushes; nil where none are sent.
    package var topic: @Sendable (ContainerKey) -> String?
    /// What the hash of a new password costs, and the look at one that nobody has.
    package let passwordCost: Password.Cost
    /// What the server counts, in the text format of Prometheus.
    package var metricsText: @Sendable () -> String = { "" }
    /// Whom users may sign in with beside a password; nil for nobody.
    package var provider: OpenIDProvider?
    /// What a test holds the server by; nil for all others.
    package var controls: TestControls?
    /// Where passwords are checked.
    package var signIns: SignInGate
    /// What was logged as damaged.
    package let damage = DamageReports()
    /// What was logged as let through although Apple refuses it.
    let leniency = LeniencyReports()
    /// Whether the store can be written.
    package let readiness = Readiness()
    /// The bound of device streams and courier polls together.
    package var heldRequests: HeldRequests
    /// The polls of each courier.
    package let courierPolls: CourierPolls
    /// Where files of records are kept.
    package var assets: any AssetStore
    /// The bounds of files that come, and of files that go.
    package var transfers: Transfers
    /// Makes the IDs of devices that others see.
    package let devices: DeviceSeal
    /// What receipts and URLs of files are sealed with.
    package let assetSealKeys: AssetSeal.Keys
    /// What the URLs of shares are made with.
    package let shareURLKey: [UInt8]
    /// Makes the continuation markers of queries.
    let markerSeal: MarkerSeal
    /// What the cookies and forms of shares' pages are made with.
    let sharePageKey: [UInt8]
    /// The same of the pages about a user's account.
    let accountPageKey: [UInt8]
    /// New users by the sign-in page.
    let signUps: SignUpPace
    /// Those who come by an identity provider for the first time.
    let newcomers: SignUpPace
    /// What fields and kept answers are encrypted with; nil keeps them as they are.
    package var rootKey: RootKey?
    /// What callers have of the server now.
    package var shares: Shares
    package var limits: Limits
    /// The schemas that requests asked for last.
    package let schemas: SchemaCache
    /// What development asks for, until the store has it.
    package let queryUses: QueryUses
    /// Where reads wait that look at much.
    package var longReads: LongReads
    package var time: Time
    package var randomness: Randomness
    package var logger: Logger

    /// The most files that come or go at a time.
    package static let transferCapacity = 256

    /// Creates a cloud on a store with this secret.
    package init(
        store: any Store,
        secret: StoreSecret,
        streams: DeviceStreams,
        couriers: CourierMailboxes,
        journal: DeliveryJournal,
        nativeTokenRegistered: @escaping @Sendable (StoredPushToken, ContainerKey) -> Void = {
            _, _ in
        },
        noteQuery: @escaping @Sendable (QueryReport) -> Void = { _ in },
        tokenUses: TokenUses = TokenUses(),
        queryUses: QueryUses = QueryUses(),
        topic: @escaping @Sendable (ContainerKey) -> String? = { _ in nil },
        heldRequests: HeldRequests = HeldRequests(),
        assets: any AssetStore = NoAssetStore(),
        transferCapacity: Int = Cloud.transferCapacity,
        rootKey: RootKey? = nil,
        shares: Shares,
        passwordCost: Password.Cost = .standard,
        metricsText: @escaping @Sendable () -> String = { "" },
        controls: TestControls? = nil,
        provider: OpenIDProvider? = nil,
        limits: Limits = Limits(),
        time: Time,
        randomness: Randomness,
        logger: Logger
    ) {
        self.store = store
        devices = DeviceSeal(secret)
        assetSealKeys = AssetSeal.Keys(secret)
        shareURLKey = secret.key(.shareURLs)
        markerSeal = MarkerSeal(key: secret.key(.queryMarkers))
        sharePageKey = secret.key(.sharePages)
        accountPageKey = KeyDerivation.key(named: "account pages", of: secret.key(.sharePages))
        signUps = SignUpPace(limits: shares.limits, elapsed: time.elapsed)
        newcomers = SignUpPace(limits: shares.limits, elapsed: time.elapsed)
        self.streams = streams
        self.couriers = couriers
        self.journal = journal
        self.nativeTokenRegistered = nativeTokenRegistered
        self.noteQuery = noteQuery
        self.tokenUses = tokenUses
        self.queryUses = queryUses
        self.topic = topic
        self.heldRequests = heldRequests
        self.assets = assets
        transfers = Transfers(capacity: transferCapacity, shares: shares)
        self.shares = shares
        courierPolls = CourierPolls(
            mostPerCourier: shares.limits.courierPolls, elapsed: time.elapsed)
        self.passwordCost = passwordCost
        signIns = SignInGate(limits: shares.limits, time: time) {
            try Password.matches($0, $1, costWithoutHash: passwordCost)
        }
        self.rootKey = rootKey
        self.metricsText = metricsText
        self.controls = controls
        self.provider = provider
        self.limits = limits
        schemas = SchemaCache(capacity: limits.cachedSchemaFields)
        longReads = LongReads(limits.longReads)
        self.time = time
        self.randomness = randomness
        self.logger = logger
    }
}
