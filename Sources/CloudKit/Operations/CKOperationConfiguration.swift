// SPDX-License-Identifier: Apache-2.0
public import Foundation

extension CKOperation {
    /// How operations run.
    // NB: Foundation on Linux cannot archive nested classes.
    public typealias Configuration = CKOperationConfiguration
}

/// How operations run. Known as `CKOperation.Configuration`.
///
/// A configuration knows which properties were set: an operation takes the others from its group
/// (OP-2).
/// See <https://developer.apple.com/documentation/cloudkit/ckoperation/configuration-swift.class>.
open class CKOperationConfiguration: NSObject, @unchecked Sendable {
    // Sendable: the state is behind a lock.
    private let state: Locked<Values>

    /// Creates a configuration in which nothing is set.
    public override init() {
        state = Locked(Values())
        super.init()
    }

    init(_ values: Values) {
        state = Locked(values)
        super.init()
    }

    /// The container of operations that have no database; nil means the default container.
    open var container: CKContainer? {
        get { values.container }
        set { state.withLock { $0.container = newValue } }
    }

    /// How important the work is to the user; `.default` when not set (OP-5).
    open var qualityOfService: QualityOfService {
        get { values.qualityOfService ?? .default }
        set { state.withLock { $0.qualityOfService = newValue } }
    }

    /// Whether cellular networks may be used; true when not set. Without effect here.
    open var allowsCellularAccess: Bool {
        get { values.allowsCellularAccess ?? true }
        set { state.withLock { $0.allowsCellularAccess = newValue } }
    }

    /// Whether the operation should outlive the app; false when not set (OP-9).
    ///
    /// A long-lived operation waits for the network, whatever its quality of service.
    open var isLongLived: Bool {
        get { values.isLongLived ?? false }
        set { state.withLock { $0.isLongLived = newValue } }
    }

    /// The longest wait for an answer, in seconds; 60 when not set, or not positive (OP-6).
    open var timeoutIntervalForRequest: TimeInterval {
        get { values.timeoutIntervalForRequest ?? Values.defaultRequestTimeout }
        set { state.withLock { $0.timeoutIntervalForRequest = newValue } }
    }

    /// The longest time for an operation with all its requests, in seconds; a week when
    /// not set (LIMIT-14).
    ///
    /// When not set, there is no limit for `.userInteractive` and `.userInitiated`, whose
    /// operations fail at the first network failure, unless they are long-lived (OP-5).
    open var timeoutIntervalForResource: TimeInterval {
        get { values.timeoutIntervalForResource ?? Values.defaultResourceTimeout }
        set { state.withLock { $0.timeoutIntervalForResource = newValue } }
    }

    /// What was set.
    var values: Values { state.current }

    /// Returns a configuration in which the same properties are set.
    func copied() -> CKOperationConfiguration {
        CKOperationConfiguration(values)
    }
}

extension CKOperationConfiguration: NSCopying {
    /// Returns a configuration in which the same properties are set.
    public func copy(with zone: NSZone? = nil) -> Any { copied() }
}

extension CKOperationConfiguration {
    /// The properties that were set; nil where nothing was set.
    struct Values: Sendable {
        /// The wait for an answer when nothing is set, in seconds (OP-6).
        static let defaultRequestTimeout: TimeInterval = 60
        /// The time for an operation when nothing is set: a week, in seconds (LIMIT-14).
        static let defaultResourceTimeout: TimeInterval = 604_800

        var container: CKContainer?
        var qualityOfService: QualityOfService?
        var allowsCellularAccess: Bool?
        var isLongLived: Bool?
        var timeoutIntervalForRequest: TimeInterval?
        var timeoutIntervalForResource: TimeInterval?

        /// Returns these values, with `defaults` where nothing was set (OP-2).
        func merged(over defaults: Values) -> Values {
            Values(
                container: container ?? defaults.container,
                qualityOfService: qualityOfService ?? defaults.qualityOfService,
                allowsCellularAccess: allowsCellularAccess ?? defaults.allowsCellularAccess,
                isLongLived: isLongLived ?? defaults.isLongLived,
                timeoutIntervalForRequest: timeoutIntervalForRequest
                    ?? defaults.timeoutIntervalForRequest,
                timeoutIntervalForResource: timeoutIntervalForResource
                    ?? defaults.timeoutIntervalForResource
            )
        }
    }
}
