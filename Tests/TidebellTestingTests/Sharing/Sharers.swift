// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import Testing
import TidebellTesting

/// Anna, who has a list with two items in a zone of hers, and Ben; each with two devices, which
/// are registered for pushes.
struct Sharers {
    let cloud: TestCloud
    let annasPhone: TestDevice
    let annasLaptop: TestDevice
    let bensPhone: TestDevice
    let bensLaptop: TestDevice
    let zoneID = CKRecordZone.ID(zoneName: "Lists")

    init() async throws {
        cloud = try await TestCloud(container: "iCloud.org.example.lists")
        annasPhone = try await cloud.device(user: "anna")
        annasLaptop = try await cloud.device(user: "anna")
        bensPhone = try await cloud.device(user: "ben")
        bensLaptop = try await cloud.device(user: "ben")
        let database = annasPhone.privateDatabase
        try await database.save(CKRecordZone(zoneID: zoneID))
        let list = CKRecord(recordType: "List", recordID: id("list"))
        list["title"] = "Groceries"
        var records = [list, CKRecord(recordType: "Item", recordID: id("other"))]
        for name in ["milk", "bread"] {
            let item = CKRecord(recordType: "Item", recordID: id(name))
            item.setParent(list)
            records.append(item)
        }
        _ = try await database.modifyRecords(saving: records, deleting: [])
        for device in devices { try await device.registerForRemoteNotifications() }
        FinishedClouds.add(cloud, annasPhone, annasLaptop, bensPhone, bensLaptop)
    }

    var devices: [TestDevice] { [annasPhone, annasLaptop, bensPhone, bensLaptop] }

    /// The ID of one of Anna's records, as she writes it.
    func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zoneID) }

    /// The same, as Ben writes it.
    func bensID(_ name: String) async throws -> CKRecord.ID {
        CKRecord.ID(
            recordName: name,
            zoneID: CKRecordZone.ID(
                zoneName: zoneID.zoneName, ownerName: try await annasPhone.userRecordName())
        )
    }

    /// A participant that Ben is, made by Anna.
    func ben(
        _ permission: CKShare.ParticipantPermission = .readWrite
    ) async throws -> CKShare.Participant {
        let name = try await bensPhone.userRecordName()
        let participant = try await annasPhone.container().shareParticipant(
            forUserRecordID: CKRecord.ID(recordName: name))
        participant.permission = permission
        return participant
    }

    /// Anna shares her list, with Ben unless he is left out.
    func share(
        _ permission: CKShare.ParticipantPermission? = .readWrite,
        open publicPermission: CKShare.ParticipantPermission = .none
    ) async throws -> CKShare {
        let database = annasPhone.privateDatabase
        let list = try await database.record(for: id("list"))
        let share = CKShare(rootRecord: list)
        share[CKShare.SystemFieldKey.title] = "Our groceries"
        if let permission { share.addParticipant(try await ben(permission)) }
        share.publicPermission = publicPermission
        let results = try await database.modifyRecords(saving: [list, share], deleting: [])
        for (_, result) in results.saveResults { _ = try result.get() }
        return share
    }

    /// Ben opens the URL of a share on his phone and accepts it.
    @discardableResult
    func accept(_ share: CKShare) async throws -> CKShare {
        let metadata = try await bensPhone.open(shareURL: #require(share.url))
        return try await bensPhone.container().accept(metadata)
    }
}

extension TestDevice {
    /// What others share with the user of the default container.
    var sharedDatabase: CKDatabase { container().sharedCloudDatabase }
}
