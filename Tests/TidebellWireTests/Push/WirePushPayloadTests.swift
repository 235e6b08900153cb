// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellWire

@Suite("Payloads of pushes")
struct WirePushPayloadTests {
    private func full(_ kind: WireSubscription.Kind) -> WirePushPayload {
        var payload = WirePushPayload(kind: kind, subscriptionID: "s", scope: .shared)
        payload.alert.body = "b"
        payload.alert.localizationKey = "lk"
        payload.alert.localizationArgs = ["la"]
        payload.alert.title = "t"
        payload.alert.titleLocalizationKey = "tk"
        payload.alert.titleLocalizationArgs = ["ta"]
        payload.alert.subtitle = "st"
        payload.alert.subtitleLocalizationKey = "sk"
        payload.alert.subtitleLocalizationArgs = ["sa", "sb"]
        payload.alert.actionLocalizationKey = "ak"
        payload.alert.launchImage = "li"
        payload.badge = 3
        payload.soundName = "default"
        payload.category = "c"
        payload.isContentAvailable = true
        payload.isMutableContent = true
        payload.containerIdentifier = "org.example"
        payload.notificationID = "n"
        payload.ownerRecordName = "_me"
        payload.isPruned = true
        payload.zone = ZoneID(zoneName: "Z", ownerRecordName: "_you")
        payload.recordName = "r"
        payload.reason = .deleted
        return payload
    }

    private func read(_ payload: WirePushPayload) throws -> WirePushPayload? {
        let json = try JSONSerialization.jsonObject(with: Data(payload.encoded()))
        return WirePushPayload.read(try #require(json as? [AnyHashable: Any]))?.payload
    }

    @Test("PUSH-16 to 18: what is written is read", arguments: WireSubscription.Kind.allCases)
    func roundTrip(kind: WireSubscription.Kind) throws {
        #expect(try read(full(kind)) == full(kind))
        let bare = WirePushPayload(kind: kind, scope: .public)
        #expect(try read(bare) == bare)
        var onlyBody = bare
        onlyBody.alert.body = "b"
        #expect(try read(onlyBody) == onlyBody)
        #expect(try read(WirePushPayload()) == WirePushPayload())
    }

    @Test("NINFO-16: desired fields come apart")
    func desiredFields() throws {
        let userInfo = full(.query).userInfo(desiredFields: ["a": "x", "n": 2])
        let read = try #require(WirePushPayload.read(userInfo))
        #expect(read.payload == full(.query))
        #expect(read.desiredFields?.string("a") == "x")
        #expect(read.desiredFields?.integer("n") == 2)
        #expect(WirePushPayload.read(full(.query).userInfo())?.desiredFields == nil)
    }

    @Test("A payload whose ck is missing is not one of CloudKit")
    func otherPushes() {
        #expect(WirePushPayload.read(["aps": ["alert": "a"]]) == nil)
    }
}
