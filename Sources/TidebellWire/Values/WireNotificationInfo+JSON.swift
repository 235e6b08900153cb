// SPDX-License-Identifier: Apache-2.0

extension WireNotificationInfo {
    /// Reads an info; absent and null members keep their defaults.
    package init(from reader: inout JSONReader) throws {
        self.init()
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            if let path = Self.texts[name] {
                self[keyPath: path] = try reader.readString()
            } else if let path = Self.lists[name] {
                self[keyPath: path] = try reader.readList { try $0.readString() }
            } else if let path = Self.flags[name] {
                self[keyPath: path] = try reader.readBool()
            } else if name == "desiredKeys" {
                // Unknown members are ignored, but this one somebody means.
                throw JSONError("the fields of a push are called additionalFields here")
            } else {
                try reader.skipValue()
            }
        }
    }

    /// Writes what is set, members in alphabetical order of their group.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            for (name, path) in Self.texts.sorted(by: { $0.key.text < $1.key.text }) {
                guard let text = self[keyPath: path] else { continue }
                writer.key(name.text)
                writer.string(text)
            }
            for (name, path) in Self.lists.sorted(by: { $0.key.text < $1.key.text }) {
                guard let list = self[keyPath: path] else { continue }
                writer.key(name.text)
                writer.array(list) { $0.string($1) }
            }
            for (name, path) in Self.flags.sorted(by: { $0.key.text < $1.key.text })
            where self[keyPath: path] {
                writer.key(name.text)
                writer.bool(true)
            }
        }
    }

    private typealias Path<Value> = any WritableKeyPath<Self, Value> & Sendable

    private static let texts: [MemberName: Path<String?>] = [
        "alertBody": \.alert.body, "alertLocalizationKey": \.alert.localizationKey,
        "title": \.alert.title, "titleLocalizationKey": \.alert.titleLocalizationKey,
        "subtitle": \.alert.subtitle, "subtitleLocalizationKey": \.alert.subtitleLocalizationKey,
        "alertActionLocalizationKey": \.alert.actionLocalizationKey,
        "alertLaunchImage": \.alert.launchImage, "soundName": \.soundName,
        "category": \.category, "collapseIDKey": \.collapseIDKey,
    ]

    private static let lists: [MemberName: Path<[String]?>] = [
        "alertLocalizationArgs": \.alert.localizationArgs,
        "titleLocalizationArgs": \.alert.titleLocalizationArgs,
        "subtitleLocalizationArgs": \.alert.subtitleLocalizationArgs,
        "additionalFields": \.desiredKeys,
    ]

    private static let flags: [MemberName: Path<Bool>] = [
        "shouldBadge": \.shouldBadge,
        "shouldSendContentAvailable": \.shouldSendContentAvailable,
        "shouldSendMutableContent": \.shouldSendMutableContent,
    ]
}
