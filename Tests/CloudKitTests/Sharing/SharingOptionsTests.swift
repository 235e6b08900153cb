// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

@Suite("What is kept of a page that Linux does not have") struct SharingOptionsTests {
    @Test("SHARE-27: options are kept and archived; the standard ones allow everything")
    func options() throws {
        let options = CKAllowedSharingOptions.standard
        #expect(options.allowedParticipantPermissionOptions == [.readOnly, .readWrite])
        #expect(options.allowedParticipantAccessOptions == .any)
        options.allowedParticipantPermissionOptions = .readOnly
        options.allowedParticipantAccessOptions = .specifiedRecipientsOnly
        options.allowsAccessRequests = true
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: options, requiringSecureCoding: true)
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(
                ofClass: CKAllowedSharingOptions.self, from: data))
        let copy = try #require(options.copy() as? CKAllowedSharingOptions)
        // What is changed later is in neither.
        options.allowsParticipantsToInviteOthers = true
        for same in [read, copy] {
            #expect(same.allowedParticipantPermissionOptions == .readOnly)
            #expect(same.allowedParticipantAccessOptions == .specifiedRecipientsOnly)
            #expect(same.allowsAccessRequests && !same.allowsParticipantsToInviteOthers)
        }
        #expect(CKAllowedSharingOptions.standard.allowedParticipantPermissionOptions == .any)
    }

    @Test("SHARE-27: an observer keeps its blocks")
    func observer() async {
        let observer = CKSystemSharingUIObserver(
            container: TestDevice(ScriptedTransport(answering: "{}")).container)
        #expect(observer.systemSharingUIDidSaveShareBlock == nil)
        #expect(observer.systemSharingUIDidStopSharingBlock == nil)
        let log = CallbackLog()
        observer.systemSharingUIDidSaveShareBlock = { recordID, _ in log.add(recordID.recordName) }
        observer.systemSharingUIDidStopSharingBlock = { recordID, _ in log.add(recordID.recordName)
        }
        let recordID = CKRecord.ID(recordName: "list")
        observer.systemSharingUIDidSaveShareBlock?(recordID, .failure(CKError(.internalError)))
        observer.systemSharingUIDidStopSharingBlock?(recordID, .success(()))
        #expect(log.lines == ["list", "list"])
    }
}
