// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

extension ContainerConnection {
    /// Returns a participant for each of those who are looked up, in order (SHARE-22).
    ///
    /// A record ID fails by itself where the container has no such user. An address makes a
    /// participant without an account: whose it is, the server finds when the share is saved.
    func participants(
        for lookups: [CKUserIdentityLookupInfo], _ options: RequestOptions
    ) async throws(CKError) -> [Result<CKShareParticipant, CKError>] {
        if let error = OperationLimit.check(lookups.count) { throw error }
        var names: [String] = []
        for lookup in lookups {
            if let name = try await userName(lookup, options) { names.append(name) }
        }
        // As records name the user themselves.
        let own = names.isEmpty ? nil : try await fetchUserRecordName(options)
        var known: Set<String> = []
        for page in names.uniqued().chunked(by: WireProtocol.pageLimit) {
            let request = LookupUsers.Request(userRecordNames: Array(page))
            let answer = try await send(LookupUsers.self, request, options)
            known.formUnion(answer.value.users.compactMap(\.userRecordName))
        }
        var rest = names.makeIterator()
        return lookups.map { lookup in
            guard case .userRecordID(let recordID) = lookup.values else {
                return .success(
                    CKShareParticipant(
                        .init(identity: CKUserIdentity.Values(lookup: lookup.values))))
            }
            guard let name = rest.next(), known.contains(name) else {
                return .failure(
                    .local(
                        .unknownItem,
                        "No user of the container has the record name '\(recordID.recordName)'."
                    )
                )
            }
            let identity = CKUserIdentity.Values(
                userRecordID: CKRecordID(
                    unchecked: name == own ? CKCurrentUserDefaultName : name, zoneID: .default),
                lookup: lookup.values)
            return .success(CKShareParticipant(.init(identity: identity)))
        }
    }

    /// Returns those who permitted to be found, with what they were looked up by.
    func discover(
        _ lookups: [CKUserIdentityLookupInfo], _ options: RequestOptions
    ) async throws(CKError) -> [(CKUserIdentityLookupInfo, CKUserIdentity)] {
        if let error = OperationLimit.check(lookups.count) { throw error }
        // A user may be looked up twice: by their record name, and as whoever is signed in.
        var wanted: [UserLookup: [CKUserIdentityLookupInfo]] = [:]
        for lookup in lookups {
            let name = try await userName(lookup, options)
            wanted[name.map { .userRecordName($0) } ?? lookup.values.wire, default: []]
                .append(lookup)
        }
        var found: [(CKUserIdentityLookupInfo, CKUserIdentity)] = []
        for page in Array(wanted.keys).chunked(by: WireProtocol.pageLimit) {
            let request = DiscoverUsers.Request(lookups: Array(page))
            let answer = try await send(DiscoverUsers.self, request, options)
            for user in answer.value.users {
                for lookup in user.lookup.flatMap({ wanted[$0] }) ?? [] {
                    let identity = CKUserIdentity.Values(
                        userRecordID: user.userRecordName.map {
                            CKRecordID(unchecked: $0, zoneID: .default)
                        },
                        lookup: lookup.values
                    )
                    found.append((lookup, CKUserIdentity(identity)))
                }
            }
        }
        return found
    }

    /// The record name that is looked up; nil for an address.
    private func userName(
        _ lookup: CKUserIdentityLookupInfo, _ options: RequestOptions
    ) async throws(CKError) -> String? {
        guard let name = lookup.userRecordID?.recordName else { return nil }
        guard name == CKCurrentUserDefaultName else { return name }
        return try await fetchUserRecordName(options)
    }
}
