// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TidebellWire

extension TestDevice {
    /// Registers the device with the server as one of Apple's: its pushes go by Apple's
    /// push service, that is to the ``FakeAPNs`` of the cloud. Returns the device token.
    ///
    /// What the `CloudKit` framework does on Apple's systems once the app has called
    /// `registerForRemoteNotifications()`.
    ///
    /// - Parameters:
    ///   - token: The device token, in hexadecimal digits; nil makes one from the
    ///     device's ID, always the same.
    ///   - service: Which of Apple's two services the token is of; nil stands for the
    ///     one of the device's environment.
    ///   - identifier: The container; nil stands for the cloud's default container.
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
        let query = [
            "ckAPIToken": configuration.apiToken, "ckWebAuthToken": webAuthToken,
        ].compactMapValues(\.self).sorted { $0.key < $1.key }
            .map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        let answer = try await link.send(
            TransportRequest(
                method: RegisterToken.route.method.rawValue,
                path: RegisterToken.route.path.text(in: name, environment.rawValue) + "?" + query,
                headers: [("Content-Type", "application/json")],
                body: JSONWriter.write { request.write(to: &$0) }
            ),
            timeout: cloud.safetyLimit
        )
        guard answer.status == 200 else {
            throw TestCloudError.misuse(
                "The server refused the token: \(String(decoding: answer.body, as: UTF8.self))"
            )
        }
        return token
    }

    /// The device's ID in hexadecimal digits, as long as Apple's tokens.
    private var appleDeviceToken: String {
        String((Hex.text(Array(deviceID.utf8)) + String(repeating: "0", count: 64)).prefix(64))
    }
}
