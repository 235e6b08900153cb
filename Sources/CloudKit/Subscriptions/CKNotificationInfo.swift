// SPDX-License-Identifier: Apache-2.0
public import Foundation

extension CKSubscription {
    /// What the pushes of a subscription contain and do.
    // NB: Foundation on Linux cannot archive nested classes.
    public typealias NotificationInfo = CKNotificationInfo
}

/// What the pushes of a subscription contain and do. Known as `CKSubscription.NotificationInfo`.
///
/// Everything is optional (NINFO-1). Changes take effect when the subscription is saved again
/// (SUB-69). Compares by value.
/// See <https://developer.apple.com/documentation/cloudkit/cksubscription/notificationinfo-swift.class>.
open class CKNotificationInfo: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable: the state is behind a lock.
    private let state: Locked<Values>

    /// Creates a push that displays nothing and does nothing (NINFO-1).
    public override init() {
        state = Locked(Values())
        super.init()
    }

    /// Creates a push with the given parts (NINFO-1).
    ///
    /// NB: as on Apple's systems, the lists default to empty here, but to nil in `init()`.
    public convenience init(
        alertBody: String? = nil,
        alertLocalizationKey: String? = nil,
        alertLocalizationArgs: [CKRecord.FieldKey] = [],
        title: String? = nil,
        titleLocalizationKey: String? = nil,
        titleLocalizationArgs: [CKRecord.FieldKey] = [],
        subtitle: String? = nil,
        subtitleLocalizationKey: String? = nil,
        subtitleLocalizationArgs: [CKRecord.FieldKey] = [],
        alertActionLocalizationKey: String? = nil,
        alertLaunchImage: String? = nil,
        soundName: String? = nil,
        desiredKeys: [CKRecord.FieldKey] = [],
        shouldBadge: Bool = false,
        shouldSendContentAvailable: Bool = false,
        shouldSendMutableContent: Bool = false,
        category: String? = nil,
        collapseIDKey: String? = nil
    ) {
        self.init(
            Values(
                alertBody: alertBody,
                alertLocalizationKey: alertLocalizationKey,
                alertLocalizationArgs: alertLocalizationArgs,
                title: title,
                titleLocalizationKey: titleLocalizationKey,
                titleLocalizationArgs: titleLocalizationArgs,
                subtitle: subtitle,
                subtitleLocalizationKey: subtitleLocalizationKey,
                subtitleLocalizationArgs: subtitleLocalizationArgs,
                alertActionLocalizationKey: alertActionLocalizationKey,
                alertLaunchImage: alertLaunchImage,
                soundName: soundName,
                desiredKeys: desiredKeys,
                shouldBadge: shouldBadge,
                shouldSendContentAvailable: shouldSendContentAvailable,
                shouldSendMutableContent: shouldSendMutableContent,
                category: category,
                collapseIDKey: collapseIDKey
            )
        )
    }

    /// Creates a push of the given state.
    init(_ values: Values) {
        state = Locked(values)
        super.init()
    }

    /// Reads a push from an archive; nil when it is damaged.
    public required init?(coder: NSCoder) {
        guard let values = coder.decodeArchiveBlob(Values.self) else { return nil }
        state = Locked(values)
        super.init()
    }

    /// Always true: the class supports secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes all parts to a keyed archive.
    open func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(values)
    }

    /// The text of the alert (NINFO-2).
    open var alertBody: String? {
        get { state.withLock { $0.alertBody } }
        set { state.withLock { $0.alertBody = newValue } }
    }

    /// The key of the alert's text in the app's localized strings (NINFO-3).
    open var alertLocalizationKey: String? {
        get { state.withLock { $0.alertLocalizationKey } }
        set { state.withLock { $0.alertLocalizationKey = newValue } }
    }

    /// The fields whose values fill the localized text of the alert, in order
    /// (NINFO-4).
    open var alertLocalizationArgs: [CKRecord.FieldKey]? {
        get { state.withLock { $0.alertLocalizationArgs } }
        set { state.withLock { $0.alertLocalizationArgs = newValue } }
    }

    /// The title of the alert (NINFO-5).
    open var title: String? {
        get { state.withLock { $0.title } }
        set { state.withLock { $0.title = newValue } }
    }

    /// The key of the title in the app's localized strings (NINFO-6).
    open var titleLocalizationKey: String? {
        get { state.withLock { $0.titleLocalizationKey } }
        set { state.withLock { $0.titleLocalizationKey = newValue } }
    }

    /// The fields whose values fill the localized title, in order (NINFO-7).
    open var titleLocalizationArgs: [CKRecord.FieldKey]? {
        get { state.withLock { $0.titleLocalizationArgs } }
        set { state.withLock { $0.titleLocalizationArgs = newValue } }
    }

    /// The subtitle of the alert (NINFO-5).
    open var subtitle: String? {
        get { state.withLock { $0.subtitle } }
        set { state.withLock { $0.subtitle = newValue } }
    }

    /// The key of the subtitle in the app's localized strings (NINFO-6).
    open var subtitleLocalizationKey: String? {
        get { state.withLock { $0.subtitleLocalizationKey } }
        set { state.withLock { $0.subtitleLocalizationKey = newValue } }
    }

    /// The fields whose values fill the localized subtitle, in order (NINFO-7).
    open var subtitleLocalizationArgs: [CKRecord.FieldKey]? {
        get { state.withLock { $0.subtitleLocalizationArgs } }
        set { state.withLock { $0.subtitleLocalizationArgs = newValue } }
    }

    /// The key of the action button's text; without one there is only a dismiss
    /// button (NINFO-8).
    open var alertActionLocalizationKey: String? {
        get { state.withLock { $0.alertActionLocalizationKey } }
        set { state.withLock { $0.alertActionLocalizationKey = newValue } }
    }

    /// The image that is displayed while the app starts from the alert (NINFO-9).
    open var alertLaunchImage: String? {
        get { state.withLock { $0.alertLaunchImage } }
        set { state.withLock { $0.alertLaunchImage = newValue } }
    }

    /// The sound of the alert, "default" for the default one (NINFO-10).
    open var soundName: String? {
        get { state.withLock { $0.soundName } }
        set { state.withLock { $0.soundName = newValue } }
    }

    /// The fields whose values the push contains, at most 3 (NINFO-16).
    open var desiredKeys: [CKRecord.FieldKey]? {
        get { state.withLock { $0.desiredKeys } }
        set { state.withLock { $0.desiredKeys = newValue } }
    }

    /// Whether the push increments the app's badge (NINFO-11).
    open var shouldBadge: Bool {
        get { state.withLock { $0.shouldBadge } }
        set { state.withLock { $0.shouldBadge = newValue } }
    }

    /// Whether the push wakes the app in the background (NINFO-12).
    open var shouldSendContentAvailable: Bool {
        get { state.withLock { $0.shouldSendContentAvailable } }
        set { state.withLock { $0.shouldSendContentAvailable = newValue } }
    }

    /// Whether the app may change the push before it is shown (NINFO-13).
    open var shouldSendMutableContent: Bool {
        get { state.withLock { $0.shouldSendMutableContent } }
        set { state.withLock { $0.shouldSendMutableContent = newValue } }
    }

    /// The category of actions the alert offers (NINFO-14).
    open var category: String? {
        get { state.withLock { $0.category } }
        set { state.withLock { $0.category = newValue } }
    }

    /// The field whose value, or the text that, is the collapse ID of the push: pushes with the
    /// same collapse ID are merged (NINFO-15).
    open var collapseIDKey: String? {
        get { state.withLock { $0.collapseIDKey } }
        set { state.withLock { $0.collapseIDKey = newValue } }
    }

    /// Returns a copy with the same parts.
    open func copy(with zone: NSZone? = nil) -> Any { clone() }

    /// Compares all parts.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKNotificationInfo else { return false }
        return values.withoutEmptyLists == other.values.withoutEmptyLists
    }

    /// A hash of the alert's text: parts may change while the object is in a set.
    open override var hash: Int { values.alertBody.hashValue }

    /// The parts that are set, as text, for logs and debuggers.
    open override var description: String {
        "<CKNotificationInfo: alertBody=\(alertBody ?? "nil"), title=\(title ?? "nil"), "
            + "shouldSendContentAvailable=\(shouldSendContentAvailable)>"
    }
}

extension CKNotificationInfo {
    /// All parts, as they are now.
    var values: Values { state.current }

    /// Returns a copy with the same parts.
    func clone() -> CKNotificationInfo {
        CKNotificationInfo(values)
    }
}
