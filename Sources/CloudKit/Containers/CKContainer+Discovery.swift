// SPDX-License-Identifier: Apache-2.0
import Foundation

// Users who permitted to be found, by what others know of them (ACCT-6). Who did not permit it is
// not found, like somebody without an account.
extension CKContainer {
    /// Finds the users among the device's contacts: none, because Linux has no contacts.
    @available(*, deprecated, message: "No longer supported; people find each other by sharing.")
    @preconcurrency
    public func discoverAllIdentities(
        completionHandler: @escaping @Sendable ([CKUserIdentity]?, (any Error)?) -> Void
    ) {
        detached { completionHandler([], nil) }
    }

    /// Returns the users among the device's contacts: none, because Linux has no contacts.
    @available(*, deprecated, message: "No longer supported; people find each other by sharing.")
    public func allUserIdentitiesFromContacts() async throws -> [CKUserIdentity] { [] }

    /// Finds the user with an email address.
    @available(*, deprecated, message: "No longer supported; people find each other by sharing.")
    @preconcurrency
    public func discoverUserIdentity(
        withEmailAddress email: String,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        identity(of: email, { CKUserIdentityLookupInfo(emailAddress: $0) }, completionHandler)
    }

    /// Returns the user with an email address; nil if none is found.
    @available(*, deprecated, message: "No longer supported; people find each other by sharing.")
    public func userIdentity(forEmailAddress email: String) async throws -> CKUserIdentity? {
        try await identities(of: [email]) { CKUserIdentityLookupInfo(emailAddress: $0) }[email]
    }

    /// Finds the users with email addresses.
    @available(*, deprecated, message: "No longer supported; people find each other by sharing.")
    @preconcurrency
    public func discoverUserIdentities(
        forEmailAddresses emails: [String],
        completionHandler:
            @escaping @Sendable (Result<[String: CKUserIdentity], any Error>) -> Void
    ) {
        identities(of: emails, { CKUserIdentityLookupInfo(emailAddress: $0) }, completionHandler)
    }

    /// Returns the users with email addresses; those that are not found are missing.
    @available(*, deprecated, message: "No longer supported; people find each other by sharing.")
    public func userIdentities(
        forEmailAddresses emails: [String]
    ) async throws -> [String: CKUserIdentity] {
        try await identities(of: emails) { CKUserIdentityLookupInfo(emailAddress: $0) }
    }

    /// Finds the user with a phone number.
    @available(*, deprecated, message: "No longer supported; people find each other by sharing.")
    @preconcurrency
    public func discoverUserIdentity(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        identity(of: phoneNumber, { CKUserIdentityLookupInfo(phoneNumber: $0) }, completionHandler)
    }

    /// Returns the user with a phone number; nil if none is found.
    @available(*, deprecated, message: "No longer supported; people find each other by sharing.")
    public func userIdentity(forPhoneNumber phoneNumber: String) async throws -> CKUserIdentity? {
        try await identities(of: [phoneNumber]) {
            CKUserIdentityLookupInfo(phoneNumber: $0)
        }[phoneNumber]
    }

    /// Finds the users with phone numbers.
    @available(*, deprecated, message: "No longer supported; people find each other by sharing.")
    @preconcurrency
    public func discoverUserIdentities(
        forPhoneNumbers phoneNumbers: [String],
        completionHandler:
            @escaping @Sendable (Result<[String: CKUserIdentity], any Error>) -> Void
    ) {
        identities(
            of: phoneNumbers, { CKUserIdentityLookupInfo(phoneNumber: $0) }, completionHandler)
    }

    /// Returns the users with phone numbers; those that are not found are missing.
    @available(*, deprecated, message: "No longer supported; people find each other by sharing.")
    public func userIdentities(
        forPhoneNumbers phoneNumbers: [String]
    ) async throws -> [String: CKUserIdentity] {
        try await identities(of: phoneNumbers) { CKUserIdentityLookupInfo(phoneNumber: $0) }
    }

    /// Finds the user with a record ID.
    @available(*, deprecated, message: "No longer supported; people find each other by sharing.")
    @preconcurrency
    public func discoverUserIdentity(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        identity(
            of: userRecordID, { CKUserIdentityLookupInfo(userRecordID: $0) }, completionHandler)
    }

    /// Returns the user with a record ID; nil if none is found.
    @available(*, deprecated, message: "No longer supported; people find each other by sharing.")
    public func userIdentity(
        forUserRecordID userRecordID: CKRecord.ID
    ) async throws -> CKUserIdentity? {
        try await identities(of: [userRecordID]) {
            CKUserIdentityLookupInfo(userRecordID: $0)
        }[userRecordID]
    }

    /// Finds the users with record IDs.
    @available(*, deprecated, message: "No longer supported; people find each other by sharing.")
    @preconcurrency
    public func discoverUserIdentities(
        forUserRecordIDs userRecordIDs: [CKRecord.ID],
        completionHandler:
            @escaping @Sendable (Result<[CKRecord.ID: CKUserIdentity], any Error>) -> Void
    ) {
        identities(
            of: userRecordIDs, { CKUserIdentityLookupInfo(userRecordID: $0) }, completionHandler)
    }

    /// Returns the users with record IDs; those that are not found are missing.
    @available(*, deprecated, message: "No longer supported; people find each other by sharing.")
    public func userIdentities(
        forUserRecordIDs userRecordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: CKUserIdentity] {
        try await identities(of: userRecordIDs) { CKUserIdentityLookupInfo(userRecordID: $0) }
    }

    private func identities<Key: Hashable & Sendable>(
        of keys: [Key], _ lookup: (Key) -> CKUserIdentityLookupInfo
    ) async throws -> [Key: CKUserIdentity] {
        let lookups = keys.uniqued().map { (lookup($0), $0) }
        let keys = Dictionary(uniqueKeysWithValues: lookups)
        var identities: [Key: CKUserIdentity] = [:]
        for (lookup, identity) in try await connection.discover(lookups.map(\.0), requestOptions) {
            if let key = keys[lookup] { identities[key] = identity }
        }
        return identities
    }

    private func identity<Key: Hashable & Sendable>(
        of key: Key, _ lookup: @escaping @Sendable (Key) -> CKUserIdentityLookupInfo,
        _ completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        identities(of: [key], lookup) { result in
            switch result {
            case .success(let found): completionHandler(found[key], nil)
            case .failure(let error): completionHandler(nil, error)
            }
        }
    }

    private func identities<Key: Hashable & Sendable>(
        of keys: [Key], _ lookup: @escaping @Sendable (Key) -> CKUserIdentityLookupInfo,
        _ completionHandler: @escaping @Sendable (Result<[Key: CKUserIdentity], any Error>) -> Void
    ) {
        detached {
            do {
                completionHandler(.success(try await self.identities(of: keys, lookup)))
            } catch {
                completionHandler(.failure(error))
            }
        }
    }
}
