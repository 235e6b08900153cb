// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing

@Suite struct CKRecordZoneTests {
    @Test("ZONE-1: the default zone has no capabilities")
    func defaultZone() {
        let zone = CKRecordZone.default()
        #expect(zone.zoneID.zoneName == "_defaultZone")
        #expect(zone.zoneID.ownerName == CKCurrentUserDefaultName)
        #expect(zone.zoneID == CKRecordZone.ID.default)
        #expect(zone.capabilities == [])
        #expect(CKRecordZone.ID.defaultZoneName == "_defaultZone")
    }

    @Test("ZONE-3: the capabilities are bits")
    func capabilities() {
        #expect(CKRecordZone.Capabilities.fetchChanges.rawValue == 1)
        #expect(CKRecordZone.Capabilities.atomic.rawValue == 2)
        #expect(CKRecordZone.Capabilities.sharing.rawValue == 4)
        #expect(CKRecordZone.Capabilities.zoneWideSharing.rawValue == 8)
    }

    @Test("ZONE-3: a zone that was not saved has no capabilities")
    func newZone() {
        let zone = CKRecordZone(zoneName: "Notes")
        #expect(zone.capabilities == [])
        #expect(zone.share == nil)
        #expect(zone.encryptionScope == .perRecord)
    }

    @Test("ZONE-4: an empty zone name ends the program")
    func emptyName() async {
        await #expect(processExitsWith: .failure) { _ = CKRecordZone.ID(zoneName: "") }
        await #expect(processExitsWith: .failure) { _ = CKRecordZone(zoneName: "") }
    }

    @Test("ZONE-8: the owner of a zone is the signed-in user unless named")
    func owner() {
        #expect(CKCurrentUserDefaultName == "__defaultOwner__")
        #expect(CKRecordZone.ID(zoneName: "Z").ownerName == CKCurrentUserDefaultName)
        #expect(CKRecordZone.ID().zoneName == "_defaultZone")
        #expect(CKRecordZone.ID(ownerName: "o").zoneName == "_defaultZone")
        let id = CKRecordZone.ID(zoneName: "Z", ownerName: "_0123")
        #expect(id.ownerName == "_0123")
        #expect(id != CKRecordZone.ID(zoneName: "Z"))
        #expect(id == CKRecordZone.ID(zoneName: "Z", ownerName: "_0123"))
        #expect(Set([id, CKRecordZone.ID(zoneName: "Z", ownerName: "_0123")]).count == 1)
    }

    @Test("ZONE-8: the older initializer takes an owner that may be nil")
    @available(*, deprecated)
    func olderInitializer() {
        let owner: String? = nil
        #expect(CKRecordZone.ID(zoneName: "Z", ownerName: owner) == CKRecordZone.ID(zoneName: "Z"))
    }

    @Test("a zone compares by identity, and copies with its state")
    func equality() throws {
        let zone = CKRecordZone(zoneName: "Z")
        zone.encryptionScope = .perZone
        let copy = try #require(zone.copy() as? CKRecordZone)
        #expect(zone != CKRecordZone(zoneName: "Z"))
        #expect(copy !== zone)
        #expect(copy.zoneID == zone.zoneID)
        #expect(copy.encryptionScope == .perZone)
    }
}
