// SPDX-License-Identifier: Apache-2.0
import Foundation

// Participants for shares (SHARE-22). Forms for several report each result by itself and fail as a
// whole only when the request does (OP-13).
extension CKContainer {
    /// Fetches a participant for an email address.
    @preconcurrency
    public func fetchShareParticipant(
        withEmailAddress emailAddress: String,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        participants(for: [emailAddress], { CKUserIdentityLookupInfo(emailAddress: $0) }) {
            $0.hand(emailAddress, to: completionHandler)
        }
    }

    /// Returns a participant for an email address.
    public func shareParticipant(
        forEmailAddress email: String
    ) async throws -> CKShare.Participant {
        try await shareParticipants(forEmailAddresses: [email]).only(email)
    }

    /// Fetches participants for email addresses.
    @preconcurrency
    public func fetchShareParticipants(
        forEmailAddresses emails: [String],
        completionHandler:
            @escaping @Sendable (
                Result<[String: Result<CKShare.Participant, any Error>], any Error>
            ) -> Void
    ) {
        participants(
            for: emails, { CKUserIdentityLookupInfo(emailAddress: $0) }, completionHandler)
    }

    /// Returns participants for email addresses.
    public func shareParticipants(
        forEmailAddresses emails: [String]
    ) async throws -> [String: Result<CKShare.Participant, any Error>] {
        try await participants(for: emails) { CKUserIdentityLookupInfo(emailAddress: $0) }
    }

    /// Fetches a participant for a phone number.
    @preconcurrency
    public func fetchShareParticipant(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        participants(for: [phoneNumber], { CKUserIdentityLookupInfo(phoneNumber: $0) }) {
            $0.hand(phoneNumber, to: completionHandler)
        }
    }

    /// Returns a participant for a phone number.
    public func shareParticipant(
        forPhoneNumber phoneNumber: String
    ) async throws -> CKShare.Participant {
        try await shareParticipants(forPhoneNumbers: [phoneNumber]).only(phoneNumber)
    }

    /// Fetches participants for phone numbers.
    @preconcurrency
    public func fetchShareParticipants(
        forPhoneNumbers phoneNumbers: [String],
        completionHandler:
            @escaping @Sendable (
                Result<[String: Result<CKShare.Participant, any Error>], any Error>
            ) -> Void
    ) {
        participants(
            for: phoneNumbers, { CKUserIdentityLookupInfo(phoneNumber: $0) }, completionHandler)
    }

    /// Returns participants for phone numbers.
    public func shareParticipants(
        forPhoneNumbers phoneNumbers: [String]
    ) async throws -> [String: Result<CKShare.Participant, any Error>] {
        try await participants(for: phoneNumbers) { CKUserIdentityLookupInfo(phoneNumber: $0) }
    }

    /// Fetches a participant for a user's record ID.
    @preconcurrency
    public func fetchShareParticipant(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        participants(for: [userRecordID], { CKUserIdentityLookupInfo(userRecordID: $0) }) {
            $0.hand(userRecordID, to: completionHandler)
        }
    }

    /// Returns a participant for a user's record ID.
    public func shareParticipant(
        forUserRecordID userRecordID: CKRecord.ID
    ) async throws -> CKShare.Participant {
        try await shareParticipants(forUserRecordIDs: [userRecordID]).only(userRecordID)
    }

    /// Fetches participants for users' record IDs.
    @preconcurrency
    public func fetchShareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID],
        completionHandler:
            @escaping @Sendable (
                Result<[CKRecord.ID: Result<CKShare.Participant, any Error>], any Error>
            ) -> Void
    ) {
        participants(
            for: userRecordIDs, { CKUserIdentityLookupInfo(userRecordID: $0) }, completionHandler)
    }

    /// Returns participants for users' record IDs.
    public func shareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: Result<CKShare.Participant, any Error>] {
        try await participants(for: userRecordIDs) { CKUserIdentityLookupInfo(userRecordID: $0) }
    }

    /// Returns participants for lookup infos of any kind.
    public func shareParticipants(
        for lookupInfos: [CKUserIdentity.LookupInfo]
    ) async throws -> [CKUserIdentity.LookupInfo: Result<CKShare.Participant, any Error>] {
        try await participants(for: lookupInfos) { $0 }
    }

    private func participants<Key: Hashable & Sendable>(
        for keys: [Key], _ lookup: (Key) -> CKUserIdentityLookupInfo
    ) async throws -> [Key: Result<CKShare.Participant, any Error>] {
        let keys = keys.uniqued()
        let results = try await connection.participants(for: keys.map(lookup), requestOptions)
        return Dictionary(
            uniqueKeysWithValues: zip(keys, results.map { $0.mapError { $0 as any Error } }))
    }

    private func participants<Key: Hashable & Sendable>(
        for keys: [Key], _ lookup: @escaping @Sendable (Key) -> CKUserIdentityLookupInfo,
        _ completionHandler:
            @escaping @Sendable (
                Result<[Key: Result<CKShare.Participant, any Error>], any Error>
            ) -> Void
    ) {
        detached {
            do {
                completionHandler(.success(try await self.participants(for: keys, lookup)))
            } catch {
                completionHandler(.failure(error))
            }
        }
    }
}
