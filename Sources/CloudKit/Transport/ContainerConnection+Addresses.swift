// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import TidebellWire

extension ContainerConnection {
    /// The device's configuration and the container's identifier, or the error that
    /// says what to configure.
    func configured() throws(CKError) -> (DeviceConfiguration, container: String) {
        let configuration = try session.configuration.get()
        guard let identifier else {
            throw .local(
                .badContainer,
                "This device has no default container: set "
                    + Self.remedy(DeviceConfiguration.Variable.container, "container")
            )
        }
        let allowed = identifier.utf8.allSatisfy { byte in
            byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || Self.isAlphanumeric(byte)
        }
        guard allowed, !identifier.isEmpty else {
            throw .local(
                .badContainer,
                "\"\(identifier)\" is no container identifier: letters, digits, dots and "
                    + "hyphens are allowed."
            )
        }
        return (configuration, identifier)
    }

    /// Returns path and query of a call, or the error that says what to configure.
    func path(of call: WebServicesCall) throws(CKError) -> String {
        guard let scope = call.scope else { return try extensionPath(call.endpoint) }
        let (configuration, container) = try configured()
        let path =
            "/database/1/\(container)/\(configuration.environment)/\(scope.rawValue)/"
            + call.endpoint
        return try path + query(configuration, needsUser: call.needsUser)
    }

    /// Returns path and query of one of our extensions, which all need a user.
    func extensionPath(
        _ endpoint: String,
        parameters: [(String, String)] = []
    ) throws(CKError) -> String {
        let (configuration, container) = try configured()
        return "/ext/1/\(container)/\(configuration.environment)/\(endpoint)"
            + (try query(configuration, needsUser: true))
            + parameters.map { "&\($0.0)=\(Self.percentEncoded($0.1))" }.joined()
    }

    private func query(
        _ configuration: DeviceConfiguration,
        needsUser: Bool
    ) throws(CKError) -> String {
        guard let apiToken = configuration.apiToken else {
            throw .local(
                .notAuthenticated,
                "This device has no API token: set "
                    + Self.remedy(DeviceConfiguration.Variable.apiToken, "apiToken")
            )
        }
        if needsUser && configuration.webAuthToken == nil {
            throw .local(
                .notAuthenticated,
                "No user is signed in on this device: set "
                    + Self.remedy(DeviceConfiguration.Variable.webAuthToken, "webAuthToken")
            )
        }
        let parameters = [
            (WireProtocol.apiToken, apiToken),
            (WireProtocol.webAuthToken, configuration.webAuthToken),
            (WireProtocol.clientID, configuration.deviceID),
        ]
        let pairs = parameters.compactMap { name, value in
            value.map { "\(name)=\(Self.percentEncoded($0))" }
        }
        return "?" + pairs.joined(separator: "&")
    }

    private static func remedy(_ variable: String, _ member: String) -> String {
        "\(variable), or \"\(member)\" in \(DeviceConfiguration.fileName) of the folder "
            + "\(DeviceConfiguration.Variable.home) names."
    }

    /// Encodes everything but RFC 3986's unreserved characters: web tokens are Base64,
    /// whose `+` would arrive as a space.
    static func percentEncoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            if isAlphanumeric(byte) || "-._~".utf8.contains(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += byte < 16 ? "%0" : "%"
                result += String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }
}
