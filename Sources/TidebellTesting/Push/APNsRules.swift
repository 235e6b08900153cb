// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// What Apple's push service takes and what it refuses ("Sending notification
/// requests to APNs", "Handling notification responses from APNs").
struct APNsRules: Sendable {
    /// Bytes of a payload.
    static let payloadLimit = 4096
    /// Bytes of a collapse ID.
    static let collapseIDLimit = 64
    /// The oldest provider token taken.
    static let tokenLifetime: TimeInterval = 3600
    /// How far the clock of the provider may be ahead.
    static let tokenLead: TimeInterval = 300
    /// The values of `apns-push-type`.
    static let pushTypes: Set = [
        "alert", "background", "location", "voip", "complication", "fileprovider", "mdm",
        "liveactivity", "pushtotalk", "widgets", "controls",
    ]

    let topics: Set<String>
    let keyID: String
    let teamID: String
    let key: SigningKey
    let now: @Sendable () -> Date

    /// Judges a request: the push it is, or why it is refused.
    func judge(_ request: APNsMessage) -> Result<FakeAPNs.Push, FakeAPNs.Refusal> {
        Result { () throws(FakeAPNs.Refusal) in
            try checkTarget(request)
            try checkProviderToken(request)
            return try push(request)
        }
    }

    private func checkTarget(_ request: APNsMessage) throws(FakeAPNs.Refusal) {
        try require(request.first(":method") == "POST", 405, "MethodNotAllowed")
        try require(request.first(":path")?.hasPrefix("/3/device/") ?? false, 404, "BadPath")
        let token = request.deviceToken
        try require(!token.isEmpty, 400, "MissingDeviceToken")
        try require(Hex.bytes(token[...]) != nil, 400, "BadDeviceToken")
        try require(request.duplicates.isEmpty, 400, "DuplicateHeaders")
    }

    private func push(_ request: APNsMessage) throws(FakeAPNs.Refusal) -> FakeAPNs.Push {
        guard let topic = request.first("apns-topic"), !topic.isEmpty else {
            throw FakeAPNs.Refusal(status: 400, reason: "MissingTopic")
        }
        try require(topics.contains(topic), 400, "TopicDisallowed")
        let id = request.first("apns-id")
        try require(id.map { UUID(uuidString: $0) != nil } ?? true, 400, "BadMessageId")
        let collapseID = request.first("apns-collapse-id")
        try require(collapseID?.utf8.count ?? 0 <= Self.collapseIDLimit, 400, "BadCollapseId")
        let expiration = request.first("apns-expiration")
        let seconds = expiration.flatMap(Int64.init)
        try require(expiration == nil || seconds ?? -1 >= 0, 400, "BadExpirationDate")
        let priority = Int(request.first("apns-priority") ?? "10") ?? 0
        try require([1, 5, 10].contains(priority), 400, "BadPriority")
        let type = request.first("apns-push-type") ?? ""
        try require(Self.pushTypes.contains(type), 400, "InvalidPushType")
        try checkPayload(request.body, type: type, priority: priority)
        return FakeAPNs.Push(
            deviceToken: request.deviceToken, id: id, topic: topic, pushType: type,
            priority: priority,
            expiration: seconds.map { Date(timeIntervalSince1970: TimeInterval($0)) },
            collapseID: collapseID, payload: request.body
        )
    }

    private func checkPayload(
        _ body: [UInt8], type: String, priority: Int
    ) throws(FakeAPNs.Refusal) {
        try require(body.count <= Self.payloadLimit, 413, "PayloadTooLarge")
        let object = try? JSONSerialization.jsonObject(with: Data(body))
        guard let payload = object as? [String: Any], !payload.isEmpty else {
            throw FakeAPNs.Refusal(status: 400, reason: "PayloadEmpty")
        }
        guard type == "background" else { return }
        // Background pushes show nothing, and are not urgent (NINFO-27).
        try require(priority != 10, 400, "BadPriority")
        let aps = payload["aps"] as? [String: Any] ?? [:]
        let isSilent = ["alert", "badge", "sound"].allSatisfy { aps[$0] == nil }
        try require(isSilent && aps["content-available"] as? Int == 1, 400, "InvalidPushType")
    }

    private func require(
        _ condition: Bool, _ status: Int, _ reason: String
    ) throws(FakeAPNs.Refusal) {
        if !condition { throw FakeAPNs.Refusal(status: status, reason: reason) }
    }

    // MARK: The provider token

    private func checkProviderToken(_ request: APNsMessage) throws(FakeAPNs.Refusal) {
        guard let header = request.first("authorization"),
            header.lowercased().hasPrefix("bearer ")
        else { throw FakeAPNs.Refusal(status: 403, reason: "MissingProviderToken") }
        let parts = header.dropFirst("bearer ".count)
            .split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let head = Self.object(parts[0]), let body = Self.object(parts[1]),
            let signature = Base64URL.bytes(parts[2]).map({ Data($0) }),
            head["alg"] as? String == "ES256", head["kid"] as? String == keyID,
            body["iss"] as? String == teamID, let issued = body["iat"] as? Double,
            key.hasSigned(parts[0] + "." + parts[1], with: signature)
        else { throw .invalidProviderToken }
        let age = now().timeIntervalSince1970 - issued
        guard age >= -Self.tokenLead else { throw .invalidProviderToken }
        guard age <= Self.tokenLifetime else { throw .expiredProviderToken }
    }

    private static func object(_ part: String) -> [String: Any]? {
        guard let bytes = Base64URL.bytes(part) else { return nil }
        return (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any]
    }
}
