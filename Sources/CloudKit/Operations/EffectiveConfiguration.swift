// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The settings an operation runs with, after all merging.
struct EffectiveConfiguration: Sendable {
    /// The container of an operation that has no database.
    var container: CKContainer?
    /// How important the work is to the user.
    var qualityOfService: QualityOfService
    /// Whether the operation should outlive the app.
    var isLongLived: Bool
    /// The longest wait for one answer.
    var timeoutIntervalForRequest: Duration
    /// The longest time for all requests; nil for no bound.
    var timeoutIntervalForResource: Duration?

    /// Applies what was set: the operation's own values over those of its group over the
    /// defaults (OP-2), some of which depend on the quality of service (OP-5).
    init(_ own: CKOperationConfiguration.Values, group: CKOperationConfiguration.Values?) {
        typealias Values = CKOperationConfiguration.Values
        let merged = own.merged(over: group ?? Values())
        container = merged.container
        qualityOfService = merged.qualityOfService ?? .default
        isLongLived = merged.isLongLived ?? false
        timeoutIntervalForRequest = Self.duration(
            merged.timeoutIntervalForRequest, otherwise: Values.defaultRequestTimeout
        )
        timeoutIntervalForResource = Self.duration(
            merged.timeoutIntervalForResource, otherwise: Values.defaultResourceTimeout
        )
        let isUrgent = qualityOfService == .userInteractive || qualityOfService == .userInitiated
        // What waits for the network always has an end.
        if isUrgent, !waitsForNetwork, merged.timeoutIntervalForResource == nil {
            timeoutIntervalForResource = nil
        }
    }

    /// Whether failures of the network are waited out instead of reported (OP-5).
    var waitsForNetwork: Bool {
        isLongLived || qualityOfService == .utility || qualityOfService == .background
    }

    /// Returns a positive time no longer than a week: clocks cannot count for ever.
    private static func duration(
        _ interval: TimeInterval?, otherwise defaultInterval: TimeInterval
    ) -> Duration {
        guard let interval, interval > 0 else { return .seconds(defaultInterval) }
        return .seconds(min(interval, CKOperationConfiguration.Values.defaultResourceTimeout))
    }
}

extension CKOperation {
    /// The operation's settings over those of its group over the defaults (OP-2).
    var effectiveConfiguration: EffectiveConfiguration {
        let own: CKOperationConfiguration = configuration
        let group: CKOperationConfiguration? = group?.defaultConfiguration
        return EffectiveConfiguration(own.values, group: group?.values)
    }

    /// How the operation's requests are sent under these settings.
    func requestOptions(_ settings: EffectiveConfiguration) -> RequestOptions {
        var options = RequestOptions(settings, group: group, on: session.clock)
        options.operationID = operationID
        options.account = account ?? containerConnection.accountPin
        return options
    }
}

extension ConvenienceSettings {
    /// How the requests of a container's own methods are sent (OP-7).
    func requestOptions(on session: DeviceSession) -> RequestOptions {
        let group: CKOperationConfiguration? = group?.defaultConfiguration
        let settings = EffectiveConfiguration(
            configuration?.values ?? CKOperationConfiguration.Values(), group: group?.values
        )
        return RequestOptions(settings, group: self.group, on: session.clock)
    }
}

extension RequestOptions {
    /// Takes the settings of an operation that begins now.
    fileprivate init(
        _ settings: EffectiveConfiguration,
        group: CKOperationGroup?,
        on clock: some Clock<Duration>
    ) {
        self.init(
            timeout: settings.timeoutIntervalForRequest,
            group: group.map { group in
                GroupMark(
                    id: group.operationGroupID, name: group.name, quantity: group.quantity
                )
            },
            waitsForNetwork: settings.waitsForNetwork,
            deadline: settings.timeoutIntervalForResource.map { Deadline($0, on: clock) }
        )
    }
}
