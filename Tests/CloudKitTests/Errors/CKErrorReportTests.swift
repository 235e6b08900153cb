// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CloudKit

@Suite struct CKErrorReportTests {
    @Test("ERR-5: a server error carries reason, request and container")
    func serverReport() {
        let error = CKError.server(
            .zoneNotFound,
            "Zone 'Notes' does not exist",
            report: CKError.ServerReport(
                requestUUID: "5B2A",
                containerIdentifier: "iCloud.test",
                retryAfter: 3
            )
        )
        #expect(error.localizedDescription == "Zone 'Notes' does not exist")
        #expect((error as NSError).localizedDescription == "Zone 'Notes' does not exist")
        #expect(error.userInfo["ErrorDescription"] as? String == "Zone 'Notes' does not exist")
        #expect(
            error.userInfo["ServerErrorDescription"] as? String == "Zone 'Notes' does not exist"
        )
        #expect(error.userInfo["RequestUUID"] as? String == "5B2A")
        #expect(error.userInfo["ContainerID"] as? String == "iCloud.test")
        #expect(error.retryAfterSeconds == 3)
    }

    @Test("ERR-7: a partial failure names its items")
    func partial() {
        let id = CKRecord.ID(recordName: "a")
        let error = CKError.partial([id: .local(.unknownItem, "The record 'a' does not exist.")])
        #expect(error.code == .partialFailure)
        #expect((error.partialErrorsByItemID?[id] as? CKError)?.code == .unknownItem)
    }
}
