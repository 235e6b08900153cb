// SPDX-License-Identifier: Apache-2.0
public import Foundation

// Before there were configurations, operations had these properties themselves. The
// setters write into ``configuration``, as Apple's do.
extension CKOperation {
    /// The container the operation works with.
    @available(*, deprecated, message: "Use the container of the configuration.")
    public var container: CKContainer? {
        get { configuration.container }
        set { configuration.container = newValue }
    }

    /// Whether cellular networks may be used.
    @available(*, deprecated, message: "Use allowsCellularAccess of the configuration.")
    public var allowsCellularAccess: Bool {
        get { configuration.allowsCellularAccess }
        set { configuration.allowsCellularAccess = newValue }
    }

    /// Whether the operation should outlive the app.
    @available(*, deprecated, message: "Use isLongLived of the configuration.")
    public var isLongLived: Bool {
        get { configuration.isLongLived }
        set { configuration.isLongLived = newValue }
    }

    /// The longest wait for an answer, in seconds.
    @available(*, deprecated, message: "Use timeoutIntervalForRequest of the configuration.")
    public var timeoutIntervalForRequest: TimeInterval {
        get { configuration.timeoutIntervalForRequest }
        set { configuration.timeoutIntervalForRequest = newValue }
    }

    /// The longest time for the operation, in seconds.
    @available(*, deprecated, message: "Use timeoutIntervalForResource of the configuration.")
    public var timeoutIntervalForResource: TimeInterval {
        get { configuration.timeoutIntervalForResource }
        set { configuration.timeoutIntervalForResource = newValue }
    }
}
