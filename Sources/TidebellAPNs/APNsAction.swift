// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

/// What an answer of Apple's service calls for.
package enum APNsAction: Sendable, Hashable {
    /// What only the operator or the app's developer can put right.
    package enum Misconfiguration: Sendable, Hashable {
        /// The key, its ID or its team.
        case key
        /// The bundle ID.
        case topic
        /// The token is of another app than that of the bundle ID.
        case tokenOfOtherApp
        /// The machine's clock: a provider token just made is expired.
        case clock
        /// What answers is not Apple's service, nor like it.
        case gateway
    }

    /// The push is with Apple: on to the next one.
    case delivered
    /// This push will never be taken: on to the next one, with an error in the log.
    case skip
    /// The token is dead: forget it unless it was registered after that moment; nil
    /// stands for when it was registered as far as we knew.
    case forget(registeredUpTo: Instant?)
    /// The provider token is too old: repeat at once with a new one.
    case renew
    /// Repeat later, this token's pushes only.
    case retryToken(atLeast: Duration = .zero)
    /// Repeat later; if that happens in a row, everything pauses.
    case retryService(atLeast: Duration = .zero)
    /// Everything pauses.
    case pause(atLeast: Duration)
    /// It will not get better by itself: growing waits, logged once.
    case misconfigured(Misconfiguration)

    /// The longest wait that a gateway may ask for.
    static let longestRetryAfter = Duration.seconds(3600)
    /// The least pause after too many new provider tokens.
    static let pauseAfterTokenUpdates = Duration.seconds(60)

    /// Decides; what no documentation mentions is judged by its status.
    package init(_ answer: APNsAnswer) {
        switch answer {
        case .silence: self = .retryService()
        case .status(let status, let reason, let invalidSince, let retryAfter):
            let wait = min(retryAfter ?? .zero, Self.longestRetryAfter)
            switch status {
            case 200: self = .delivered
            case 400: self = Self.badRequest(reason)
            case 403: self = Self.forbidden(reason)
            case 410: self = .forget(registeredUpTo: invalidSince)
            case 413: self = .skip
            case 429: self = Self.tooMany(reason, wait)
            case 500...599: self = .retryService(atLeast: wait)
            // BadPath and MethodNotAllowed; without a reason they are not Apple's.
            case 404, 405: self = reason.isEmpty ? .misconfigured(.gateway) : .skip
            default: self = .misconfigured(.gateway)
            }
        }
    }

    private static func badRequest(_ reason: String) -> APNsAction {
        switch reason {
        case "BadDeviceToken", "MissingDeviceToken": .forget(registeredUpTo: nil)
        case "BadTopic", "MissingTopic", "TopicDisallowed": .misconfigured(.topic)
        case "DeviceTokenNotForTopic": .misconfigured(.tokenOfOtherApp)
        case "IdleTimeout": .retryService()
        case "": .misconfigured(.gateway)
        default: .skip
        }
    }

    private static func forbidden(_ reason: String) -> APNsAction {
        switch reason {
        case "ExpiredProviderToken": .renew
        case "": .misconfigured(.gateway)
        default: .misconfigured(.key)
        }
    }

    private static func tooMany(_ reason: String, _ wait: Duration) -> APNsAction {
        reason == "TooManyProviderTokenUpdates"
            ? .pause(atLeast: max(wait, pauseAfterTokenUpdates)) : .retryToken(atLeast: wait)
    }
}

extension APNsAction.Misconfiguration {
    /// What is wrong and what to do about it.
    var advice: String {
        switch self {
        case .key: "it refuses the key; check key file, key ID and team ID"
        case .topic: "it refuses the topic; check the bundle ID given for the container"
        case .tokenOfOtherApp:
            "a push token is of another app than the topic; check the bundle ID given for the "
                + "container, or what the app registers"
        case .clock: "it treats new provider tokens as expired; check this machine's clock"
        case .gateway: "what answers does not speak like it; check the gateway's URL"
        }
    }
}
