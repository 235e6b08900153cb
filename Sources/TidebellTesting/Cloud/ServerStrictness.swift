// SPDX-License-Identifier: Apache-2.0
import TidebellCore

/// Whether a ``TestCloud`` refuses what Apple's servers refuse and what would work on it.
///
/// ```swift
/// let cloud = try await TestCloud(strictness: .apple)
/// ```
///
/// | refused | with | source |
/// |---|---|---|
/// | a subscription without `notificationInfo` | `invalidArguments` | the header of `CKSubscription` (SUB-68) |
/// | `desiredKeys` of a zone or database subscription | `invalidArguments` | malhal.com, "CKRecordZoneSubscription Notes" |
/// | a query without conditions, unless ``withQueryableRecordNames(of:)`` names its type | `invalidArguments` | QUERY-14 |
/// | a container other than the cloud's, unless ``withContainers(_:)`` names it | `badContainer` | ERR-14 |
///
/// Query and zone subscriptions that fire like another are refused by any cloud (SUB-32), as is one whose ID a
/// subscription of another kind has (SUB-70).
///
/// What nobody outside of Apple knows is not checked: which field names beside those with an underscore are
/// reserved, which indexes a new record type has in development, and whether an app may have several database
/// subscriptions, or save an equal subscription again (SUB-31, SUB-34). Nor is what a production schema lacks: in
/// both environments, record types and fields come into being by use.
public struct ServerStrictness: Sendable, Hashable {
    private let isStrict: Bool
    private var queryable: Set<String> = []
    private var containers: Set<String> = []

    /// What would be refused works; `tidebell push explain` says that it would be.
    public static let lenient = ServerStrictness(isStrict: false)

    /// What Apple's servers refuse is refused, as far as it is known.
    public static let apple = ServerStrictness(isStrict: true)

    private init(isStrict: Bool) {
        self.isStrict = isStrict
    }

    /// Returns the same with an index on the `recordName` of record types, as one sets it in CloudKit's
    /// console for queries that every record passes.
    public func withQueryableRecordNames(of recordTypes: String...) -> ServerStrictness {
        var strictness = self
        strictness.queryable.formUnion(recordTypes)
        return strictness
    }

    /// Returns the same with further containers than the cloud's own.
    public func withContainers(_ identifiers: String...) -> ServerStrictness {
        var strictness = self
        strictness.containers.formUnion(identifiers)
        return strictness
    }

    /// Sets what the rules take of it.
    func apply(to limits: inout Limits, defaultContainer: String) {
        guard isStrict else { return }
        limits.strictness = .apple
        limits.typesQueryableByName = queryable
        limits.knownContainers = containers.union([defaultContainer])
    }
}
