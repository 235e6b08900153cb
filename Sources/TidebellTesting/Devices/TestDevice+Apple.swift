// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TidebellWire

extension TestDevice {
    /// Registers the device with the server as an Apple device: its pushes are sent to Apple's push
    /// service, which is the ``FakeAPNs`` of the cloud. Returns the device token.
    ///
    /// On Apple's systems, the `CloudKit` framework does this after the app has called
    /// `registerForRemoteNotifications()`.
    ///
    /// - Parameters:
    ///   - token: The device token, in hexadecimal digits; nil makes one from the
    ///     device's ID, always the same.
    ///   - service: Which of Apple's two services the token belongs to; nil means the service for
    ///     the device's environment.
    ///   - identifier: The container; nil means the cloud's default container.
    @discardableResult
    public func registerAppleDevice(
        token: String? = nil, of service: TestCloud.Environment? = nil,
        container identifier: String? = nil
    ) async throws -> String {
        let token = token ?? appleDeviceToken
        let request = TokenRequest(
            apnsEnvironment: (service ?? environment) == .production ? .production : .development,
            apnsToken: token, clientId: deviceID
        )
        let name = identifier ?? cloud.defaultContainer
        let answer = try await webRequest(
            RegisterToken.self, in: name, nil, body: JSONWriter.write { request.write(to: &$0) }
        )
        guard answer.status == 200 else {
            throw TestCloudError.misuse(
                "The server refused the token: \(String(decoding: answer.body, as: UTF8.self))"
            )
        }
        return token
    }

    /// Sends a request as a page would, with the tokens in its URL.
    func webRequest(
        _ endpoint: any WireEndpoint.Type, in container: String, _ scope: DatabaseScope?,
        body: [UInt8]
    ) async throws -> TransportResponse {
        let query = [
            "ckAPIToken": configuration.apiToken, "ckWebAuthToken": webAuthToken,
        ].compactMapValues(\.self).sorted { $0.key < $1.key }
            .map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        let path = endpoint.route.path.text(in: container, environment.rawValue, scope)
        return try await link.send(
            TransportRequest(
                method: endpoint.route.method.rawValue, path: path + "?" + query,
                headers: [("Content-Type", "application/json")], body: body
            ),
            timeout: cloud.safetyLimit
        )
    }

    /// The device's ID in hexadecimal digits, as long as Apple's tokens.
    private var appleDeviceToken: String {
        String((Hex.text(Array(deviceID.utf8)) + String(repeating: "0", count: 64)).prefix(64))
    }
}
