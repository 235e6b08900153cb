// SPDX-License-Identifier: Apache-2.0

extension CKNotificationInfo {
    /// The parts of a push, as an archive keeps them.
    struct Values: Equatable, Sendable, ArchiveValue {
        var alertBody: String?
        var alertLocalizationKey: String?
        var alertLocalizationArgs: [CKRecord.FieldKey]?
        var title: String?
        var titleLocalizationKey: String?
        var titleLocalizationArgs: [CKRecord.FieldKey]?
        var subtitle: String?
        var subtitleLocalizationKey: String?
        var subtitleLocalizationArgs: [CKRecord.FieldKey]?
        var alertActionLocalizationKey: String?
        var alertLaunchImage: String?
        var soundName: String?
        var desiredKeys: [CKRecord.FieldKey]?
        var shouldBadge: Bool = false
        var shouldSendContentAvailable: Bool = false
        var shouldSendMutableContent: Bool = false
        var category: String?
        var collapseIDKey: String?

        static var kind: ArchiveKind { .notificationInfo }
    }
}

extension CKNotificationInfo.Values {
    /// The same parts, with nil for each empty list: that is how the server gives them back.
    var withoutEmptyLists: Self {
        var values = self
        for list in [
            \Self.alertLocalizationArgs, \.titleLocalizationArgs, \.subtitleLocalizationArgs,
            \.desiredKeys,
        ] where values[keyPath: list]?.isEmpty == true {
            values[keyPath: list] = nil
        }
        return values
    }
}

extension CKNotificationInfo.Values {
    init(from reader: inout BlobReader) throws(BlobError) {
        self.init()
        alertBody = try reader.optionalString()
        alertLocalizationKey = try reader.optionalString()
        alertLocalizationArgs = try reader.optionalStrings()
        title = try reader.optionalString()
        titleLocalizationKey = try reader.optionalString()
        titleLocalizationArgs = try reader.optionalStrings()
        subtitle = try reader.optionalString()
        subtitleLocalizationKey = try reader.optionalString()
        subtitleLocalizationArgs = try reader.optionalStrings()
        alertActionLocalizationKey = try reader.optionalString()
        alertLaunchImage = try reader.optionalString()
        soundName = try reader.optionalString()
        desiredKeys = try reader.optionalStrings()
        shouldBadge = try reader.bool()
        shouldSendContentAvailable = try reader.bool()
        shouldSendMutableContent = try reader.bool()
        category = try reader.optionalString()
        collapseIDKey = try reader.optionalString()
    }

    func write(to writer: inout BlobWriter) {
        writer.write(alertBody)
        writer.write(alertLocalizationKey)
        writer.write(alertLocalizationArgs) { $0.write($1) }
        writer.write(title)
        writer.write(titleLocalizationKey)
        writer.write(titleLocalizationArgs) { $0.write($1) }
        writer.write(subtitle)
        writer.write(subtitleLocalizationKey)
        writer.write(subtitleLocalizationArgs) { $0.write($1) }
        writer.write(alertActionLocalizationKey)
        writer.write(alertLaunchImage)
        writer.write(soundName)
        writer.write(desiredKeys) { $0.write($1) }
        writer.write(shouldBadge)
        writer.write(shouldSendContentAvailable)
        writer.write(shouldSendMutableContent)
        writer.write(category)
        writer.write(collapseIDKey)
    }
}

extension BlobReader {
    /// Reads texts that may be missing.
    mutating func optionalStrings() throws(BlobError) -> [String]? {
        try optional { reader throws(BlobError) in try reader.strings() }
    }
}
