// SPDX-License-Identifier: Apache-2.0

extension WirePushPayload {
    /// Returns the payload as JSON: `{"aps":{…},"ck":{…}}` (PUSH-16 to 18).
    package func encoded() -> [UInt8] {
        JSONWriter.write(capacity: 512) { writer in
            writer.object { writer in
                writer.key("aps")
                writer.object(writeAPS)
                writer.key("ck")
                writer.object(writeCK)
            }
        }
    }

    private func writeAPS(to writer: inout JSONWriter) {
        if let body = alert.onlyBody {
            writer.member("alert", body)
        } else if alert != WireAlert() {
            writer.key("alert")
            alert.write(to: &writer)
        }
        if let badge { writer.member("badge", badge) }
        writer.member("sound", soundName)
        writer.member("category", category)
        if isContentAvailable { writer.member("content-available", 1) }
        if isMutableContent { writer.member("mutable-content", 1) }
    }

    private func writeCK(to writer: inout JSONWriter) {
        // NB: nobody outside Apple knows what it means; it is 2 in every capture.
        writer.member("ce", 2)
        writer.member("cid", containerIdentifier)
        writer.member("ckuserid", ownerRecordName)
        writer.member("nid", notificationID)
        if isPruned { writer.member("p", 1) }
        guard let kind else { return }
        writer.key(kind.payloadKey)
        writer.object(writeKind)
    }

    private func writeKind(to writer: inout JSONWriter) {
        writer.member("sid", subscriptionID)
        if let scope { writer.member("dbs", scope.payloadCode) }
        writer.member("zid", zone?.zoneName)
        writer.member("zoid", zone?.ownerRecordName)
        writer.member("rid", recordName)
        if let reason { writer.member("fo", reason.rawValue) }
        guard !desiredFields.isEmpty else { return }
        writer.key("af")
        writer.object { writer in
            for field in desiredFields {
                writer.key(field.key)
                field.value.write(to: &writer)
            }
        }
    }
}

extension WireAlert {
    /// The body where it is the only part, which is then written as a plain
    /// string (NINFO-2).
    fileprivate var onlyBody: String? {
        var rest = self
        rest.body = nil
        return rest == Self() ? body : nil
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("body", body)
            writer.member("loc-key", localizationKey)
            writer.member("loc-args", localizationArgs)
            writer.member("title", title)
            writer.member("title-loc-key", titleLocalizationKey)
            writer.member("title-loc-args", titleLocalizationArgs)
            writer.member("subtitle", subtitle)
            writer.member("subtitle-loc-key", subtitleLocalizationKey)
            writer.member("subtitle-loc-args", subtitleLocalizationArgs)
            writer.member("action-loc-key", actionLocalizationKey)
            writer.member("launch-image", launchImage)
        }
    }
}
