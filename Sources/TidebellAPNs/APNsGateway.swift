// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Where pushes of one environment are sent: Apple's service, or a gateway that
/// speaks like it.
package struct APNsGateway: Sendable, Hashable {
    /// The ports Apple's hosts listen on.
    package static let applePorts: Set = [443, 2197]

    /// The beginning of every URL: `https://`, host and port.
    package var url: String

    /// Creates a gateway at a URL without path, such as `https://127.0.0.1:8443`.
    package init(url: String) {
        self.url = url
    }

    /// Apple's gateway for an environment: the sandbox for development (PUSH-10).
    package static func apple(_ environment: CloudEnvironment, port: Int = 443) -> APNsGateway {
        let host =
            switch environment {
            case .development: "api.sandbox.push.apple.com"
            case .production: "api.push.apple.com"
            }
        return APNsGateway(url: "https://\(host):\(port)")
    }
}
