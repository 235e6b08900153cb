// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellAPNs
import TidebellCore

@Suite("Requests to Apple's push service")
struct RequestTests {
    private static func headers(
        isBackground: Bool, collapseID: CollapseID?
    ) -> [String: String] {
        let notification = StoredNotification(
            user: UserID(rawValue: 1), notificationID: "0f0e0d0c-0b0a-4908-8706-050403020100",
            database: DatabaseID(rawValue: 1), subscriptionID: "all", originClient: nil,
            payload: Array("{}".utf8), isBackground: isBackground, collapseID: collapseID,
            createdAt: Instant(rawValue: 1_767_268_800_999)
        )
        let request = APNsRequest(
            notification, token: "ab12", topic: "org.example.app", expiration: .seconds(3600)
        )
        #expect(request.path == "/3/device/ab12")
        #expect(request.payload == notification.payload)
        return Dictionary(uniqueKeysWithValues: request.headers.map { ($0.name, $0.value) })
    }

    @Test("NINFO-24, NINFO-25, NINFO-27: a background push has type background and priority 5")
    func background() {
        #expect(
            Self.headers(isBackground: true, collapseID: .background) == [
                "apns-topic": "org.example.app", "apns-push-type": "background",
                "apns-priority": "5", "apns-expiration": "1767272400",
                "apns-id": "0f0e0d0c-0b0a-4908-8706-050403020100",
            ]
        )
    }

    @Test("NINFO-25, PUSH-5: a visual push has type alert, priority 10 and the app's collapse ID")
    func alert() {
        #expect(
            Self.headers(isBackground: false, collapseID: .chosen("chat-7")) == [
                "apns-topic": "org.example.app", "apns-push-type": "alert",
                "apns-priority": "10", "apns-expiration": "1767272400",
                "apns-id": "0f0e0d0c-0b0a-4908-8706-050403020100",
                "apns-collapse-id": "chat-7",
            ]
        )
    }
}
