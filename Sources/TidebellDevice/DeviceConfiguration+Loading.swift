// SPDX-License-Identifier: Apache-2.0
package import Foundation
import TidebellWire

extension DeviceConfiguration {
    /// The environment variables that configure a device.
    package enum Variable {
        package static let server = "TIDEBELL_SERVER"
        package static let apiToken = "TIDEBELL_API_TOKEN"
        package static let webAuthToken = "TIDEBELL_WEB_AUTH_TOKEN"
        package static let environment = "TIDEBELL_ENVIRONMENT"
        package static let container = "TIDEBELL_CONTAINER"
        package static let home = "TIDEBELL_HOME"
        /// Whether nothing is to be printed about waits.
        package static let quiet = "TIDEBELL_QUIET"
    }

    /// The file in the state folder that configures a device.
    package static let fileName = "device.json"

    /// The longest configuration file that is read, in bytes.
    package static let maximumFileSize = 64 << 10

    /// The address where `tidebell serve` listens unless configured otherwise.
    package static let defaultServer = "http://127.0.0.1:8642"

    /// Reads the configuration from environment variables and `device.json`.
    ///
    /// Creates the state folder and the device ID where they do not exist yet. Fails
    /// with an error whose reason names the variable or file to set right.
    package static func load(
        environment variables: [String: String]
    ) throws(DeviceError) -> DeviceConfiguration {
        let folder = stateFolder(variables)
        let file = try DeviceFile.read(folder.appendingPathComponent(fileName))
        func setting(_ variable: String, _ member: String?) -> String? {
            variables[variable].flatMap { $0.isEmpty ? nil : $0 } ?? member
        }
        var given: Set<Given> = []
        for (variable, setting) in [
            (Variable.server, Given.server), (Variable.apiToken, .apiToken),
            (Variable.webAuthToken, .webAuthToken), (Variable.environment, .environment),
        ] where variables[variable]?.isEmpty == false { given.insert(setting) }
        if file.environment != nil { given.insert(.environment) }
        let server = setting(Variable.server, file.server) ?? defaultServer
        let name = setting(Variable.environment, file.environment) ?? "development"
        guard let environment = CloudEnvironment(rawValue: name) else {
            throw DeviceError(
                .badContainer,
                "The environment is \"\(name)\", but must be \"development\" or \"production\""
                    + "; set \(Variable.environment) or \"environment\" in \(fileName)."
            )
        }
        return DeviceConfiguration(
            server: try address(server),
            apiToken: setting(Variable.apiToken, file.apiToken),
            webAuthToken: setting(Variable.webAuthToken, file.webAuthToken),
            environment: environment.rawValue,
            defaultContainer: setting(Variable.container, file.container),
            deviceID: try DeviceState(folder: folder).deviceID(),
            given: given,
            stateFolder: folder
        )
    }

    /// Returns the device's folder.
    package static func stateFolder(_ variables: [String: String]) -> URL {
        if let home = variables[Variable.home], !home.isEmpty {
            return URL(fileURLWithPath: home, isDirectory: true)
        }
        let home = variables["HOME"] ?? NSHomeDirectory()
        return URL(fileURLWithPath: home, isDirectory: true)
            .appendingPathComponent(".tidebell", isDirectory: true)
    }

    /// Returns the address of a server that somebody wrote.
    package static func address(_ text: String) throws(DeviceError) -> URL {
        guard let url = URL(string: text), url.scheme == "http" || url.scheme == "https",
            url.host?.isEmpty == false, url.query == nil, url.fragment == nil
        else {
            throw DeviceError(
                .networkFailure,
                "\"\(text)\" is not a server address such as \(defaultServer); set "
                    + "\(Variable.server) or \"server\" in \(fileName)."
            )
        }
        return url
    }

    /// Fails where a text cannot be the identifier of a container.
    package static func check(container identifier: String) throws(DeviceError) {
        guard Identifier.isContainer(identifier) else {
            throw DeviceError(
                .badContainer,
                "\"\(identifier)\" is not a container identifier: letters, digits, dots and "
                    + "hyphens are allowed."
            )
        }
    }

    /// The query of every request to a container: its tokens, and the device's ID.
    ///
    /// - Parameter apiToken: The API token, without which there is no request.
    package func query(apiToken: String) -> String {
        let parameters = [
            (WireProtocol.apiToken, apiToken), (WireProtocol.webAuthToken, webAuthToken),
            (WireProtocol.clientID, deviceID),
        ]
        let pairs = parameters.compactMap { name, value in
            value.map { "\(name)=\(PercentEncoding.encoded($0))" }
        }
        return "?" + pairs.joined(separator: "&")
    }
}

/// Percent-encoding as it is on the wire.
package enum PercentEncoding {
    /// Encodes everything but RFC 3986's unreserved characters: web tokens are Base64,
    /// whose `+` would arrive as a space.
    package static func encoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            if byte.isASCIIAlphanumeric || "-._~".utf8.contains(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += byte < 16 ? "%0" : "%"
                result += String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }
}

/// The members of `device.json`.
private struct DeviceFile {
    var server: String?
    var apiToken: String?
    var webAuthToken: String?
    var environment: String?
    var container: String?

    /// Reads the file; a file that does not exist sets nothing.
    static func read(_ url: URL) throws(DeviceError) -> DeviceFile {
        guard FileManager.default.fileExists(atPath: url.path) else { return DeviceFile() }
        do {
            let data = try Data(contentsOf: url)
            guard data.count <= DeviceConfiguration.maximumFileSize else {
                throw JSONError("more than \(DeviceConfiguration.maximumFileSize) bytes")
            }
            return try JSONReader.read([UInt8](data)) { try DeviceFile(from: &$0) }
        } catch {
            throw DeviceError(.badContainer, "\(url.path) cannot be read: \(error)")
        }
    }

    init() {}

    private init(from reader: inout JSONReader) throws {
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "server": server = try reader.readString()
            case "apiToken": apiToken = try reader.readString()
            case "webAuthToken": webAuthToken = try reader.readString()
            case "environment": environment = try reader.readString()
            case "container": container = try reader.readString()
            default: try reader.skipValue()
            }
        }
    }
}
