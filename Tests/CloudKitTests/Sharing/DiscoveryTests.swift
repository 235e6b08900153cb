// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

/// The deprecated ways to find users, called through a protocol whose requirements are not.
private protocol OldDiscovery {
    func byAddress() async throws -> [String]
    func byRecordID() async throws -> [String]
    func contacts() async throws -> Int
    func contactsOfOperation() async -> [String]
    func found(_ lookups: [CKUserIdentity.LookupInfo]) async -> [String]
}

private struct Discovery: OldDiscovery {
    var container: CKContainer

    @available(*, deprecated)
    func byAddress() async throws -> [String] {
        let one = try await container.userIdentity(forEmailAddress: "a@example.org")
        let many = try await container.userIdentities(forPhoneNumbers: ["+49170", "+49171"])
        let handled = await withCheckedContinuation { continuation in
            container.discoverUserIdentity(withPhoneNumber: "+49170") { identity, error in
                continuation.resume(returning: error == nil ? identity : nil)
            }
        }
        return [one, many["+49170"], many["+49171"], handled].map {
            $0?.userRecordID?.recordName ?? "nobody"
        }
    }

    @available(*, deprecated)
    func byRecordID() async throws -> [String] {
        let ben = CKRecord.ID(recordName: "_ben")
        let one = try await container.userIdentity(forUserRecordID: ben)
        let many = await withCheckedContinuation { continuation in
            container.discoverUserIdentities(forUserRecordIDs: [ben]) { result in
                continuation.resume(returning: (try? result.get()) ?? [:])
            }
        }
        return [one, many[ben]].map { $0?.userRecordID?.recordName ?? "nobody" }
    }

    @available(*, deprecated)
    func contacts() async throws -> Int {
        let handled = await withCheckedContinuation { continuation in
            container.discoverAllIdentities { identities, error in
                continuation.resume(returning: error == nil ? identities?.count ?? -1 : -1)
            }
        }
        return handled + (try await container.allUserIdentitiesFromContacts().count)
    }

    @available(*, deprecated)
    func contactsOfOperation() async -> [String] {
        let log = CallbackLog()
        let operation = CKDiscoverAllUserIdentitiesOperation()
        operation.userIdentityDiscoveredBlock = { _ in log.add("found") }
        operation.discoverAllUserIdentitiesResultBlock = { log.add(text($0)) }
        await container.runToEnd(operation)
        return log.lines
    }

    @available(*, deprecated)
    func found(_ lookups: [CKUserIdentity.LookupInfo]) async -> [String] {
        let log = CallbackLog()
        let operation = CKDiscoverUserIdentitiesOperation(userIdentityLookupInfos: lookups)
        operation.userIdentityDiscoveredBlock = { identity, lookup in
            log.add(
                "\(identity.userRecordID?.recordName ?? "") by "
                    + "\(lookup.userRecordID?.recordName ?? "")")
        }
        await container.runToEnd(operation)
        return log.lines.sorted()
    }
}

@Suite("Users who are found") struct DiscoveryTests {
    private let transport = ScriptedTransport { sent, _ in
        guard sent.endpoint == "public users/discover" else {
            return .json(#"{"userRecordName":"_me"}"#)
        }
        // Whoever is asked for by one of these permitted it.
        let known = [
            (#"{"emailAddress":"a@example.org"}"#, "_anna"),
            (#"{"phoneNumber":"+49170"}"#, "_otto"), (#"{"userRecordName":"_ben"}"#, "_ben"),
            (#"{"userRecordName":"_me"}"#, "_me"),
        ]
        let users = known.filter { sent.body.contains($0.0) }.map {
            #"{"userRecordName":"\#($0.1)","lookupInfo":\#($0.0)}"#
        }
        return .json(#"{"users":[\#(users.joined(separator: ","))]}"#)
    }

    private var discovery: any OldDiscovery {
        Discovery(container: TestDevice(transport).container)
    }

    @Test("ACCT-6: users are found by address, phone number and record ID, others are not")
    func all() async throws {
        #expect(try await discovery.byAddress() == ["_anna", "_otto", "nobody", "_otto"])
        #expect(try await discovery.byRecordID() == ["_ben", "_ben"])
    }

    @Test("ACCT-6: there are no contacts among which anybody could be found")
    func contacts() async throws {
        #expect(try await discovery.contacts() == 0)
        #expect(await discovery.contactsOfOperation() == ["success"])
        #expect(transport.sent.isEmpty)
    }

    @Test("ACCT-6: who is looked up twice, by name and as the user, is found by both")
    func twice() async {
        let lookups = ["_me", CKCurrentUserDefaultName].map {
            CKUserIdentityLookupInfo(userRecordID: CKRecord.ID(recordName: $0))
        }
        #expect(
            await discovery.found(lookups)
                == [
                    "_me by _me", "_me by \(CKCurrentUserDefaultName)",
                ].sorted())
    }
}

extension CKContainer {
    /// Runs an operation and waits until its completion block was called.
    fileprivate func runToEnd(_ operation: CKOperation) async {
        await withCheckedContinuation { continuation in
            operation.completionBlock = { continuation.resume() }
            add(operation)
        }
    }
}
