// SPDX-License-Identifier: Apache-2.0
import TidebellCore

/// Whether a ``TestCloud`` refuses requests that it could serve but Apple's servers refuse.
///
/// ```swift
/// let cloud = try await TestCloud(strictness: .apple)
/// ```
///
/// | refused | with | source |
/// |---|---|---|
/// | a subscription without `notificationInfo` | `invalidArguments` | the header of `CKSubscription` (SUB-68) |
/// | `desiredKeys` of a zone or database subscription | `invalidArguments` | malhal.com, "CKRecordZoneSubscription Notes" |
/// | a query without conditions, unless ``withQueryableRecordNames(of:)`` or a schema's file gives its type the index | `invalidArguments` | QUERY-14 |
/// | in development, a private record whose field has another type than in the private records of another user | `invalidArguments` | ENV-1 |
/// | a container other than the cloud's, unless ``withContainers(_:)`` names it | `badContainer` | ERR-14 |
///
/// Query and zone subscriptions that fire like another are refused by any cloud (SUB-32), as is one whose ID a
/// subscription of another kind has (SUB-70).
///
/// Rules that are not published are not checked: which field names besides those with an underscore
/// are reserved, which indexes a new record type has in development, and whether an app may have
/// several database subscriptions, or save an equal subscription again (SUB-31, SUB-34).
///
/// What production's schema lacks is refused in any cloud: see `TestCloud(environment:schema:)` and
/// ``TestCloud/checkSchema(_:)``.
public struct ServerStrictness: Sendable, Hashable {
    private let isStrict: Bool
    private var queryable: Set<String> = []
    private var containers: Set<String> = []

    /// Such requests work; `tidebell push explain` prints that Apple would refuse them.
    public static let lenient = ServerStrictness(isStrict: false)

    /// Requests that Apple's servers refuse are refused, as far as the rules are known.
    public static let apple = ServerStrictness(isStrict: true)

    private init(isStrict: Bool) {
        self.isStrict = isStrict
    }

    /// Returns a copy with an index on the `recordName` of record types, which is set in CloudKit's
    /// console for queries that match every record.
    public func withQueryableRecordNames(of recordTypes: String...) -> ServerStrictness {
        var strictness = self
        strictness.queryable.formUnion(recordTypes)
        return strictness
    }

    /// Returns a copy that accepts further containers besides the cloud's own.
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
