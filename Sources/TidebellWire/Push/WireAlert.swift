// SPDX-License-Identifier: Apache-2.0

/// What a push shows (NINFO-2 to 9, PUSH-24): `aps.alert` of its payload, with the values of
/// arguments; in a subscription's ``WireNotificationInfo``, with the names of fields as arguments.
package struct WireAlert: Sendable, Hashable {
    /// The text.
    package var body: String?
    /// The key of the text in the app's localized strings.
    package var localizationKey: String?
    /// The values that fill the localized text.
    package var localizationArgs: [String]?
    /// The title.
    package var title: String?
    /// The key of the title in the app's localized strings.
    package var titleLocalizationKey: String?
    /// The values that fill the localized title.
    package var titleLocalizationArgs: [String]?
    /// The subtitle.
    package var subtitle: String?
    /// The key of the subtitle in the app's localized strings.
    package var subtitleLocalizationKey: String?
    /// The values that fill the localized subtitle.
    package var subtitleLocalizationArgs: [String]?
    /// The key of the action button's text.
    package var actionLocalizationKey: String?
    /// The image shown while the app starts.
    package var launchImage: String?

    /// Creates an alert that shows nothing.
    package init() {}

    /// Whether there is a text, title or subtitle to show.
    package var hasText: Bool {
        let texts = [
            body, localizationKey, title, titleLocalizationKey, subtitle, subtitleLocalizationKey,
        ]
        return texts.contains { $0 != nil }
    }
}
