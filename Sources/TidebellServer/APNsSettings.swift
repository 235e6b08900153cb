// SPDX-License-Identifier: Apache-2.0
package import Foundation
package import TidebellAPNs
import TidebellCore
import TidebellWire

/// The operator's settings of Apple's push service, on the command line and in
/// the section `apns` of the configuration file.
///
/// ```json
/// {
///   "apns": {
///     "keyFile": "AuthKey_ABCDE12345.p8", "keyID": "ABCDE12345", "teamID": "TEAM123456",
///     "containers": [
///       { "container": "iCloud.org.example.app", "topic": "org.example.app" }
///     ]
///   }
/// }
/// ```
///
/// A container may have a key of its own: the same three members beside its topic.
package struct APNsSettings: Sendable, Hashable {
    /// A key, as far as the operator configured it.
    package struct Key: Sendable, Hashable {
        /// The `.p8` file.
        package var file: URL?
        package var keyID: String?
        package var teamID: String?

        /// Creates a key.
        package init(file: URL? = nil, keyID: String? = nil, teamID: String? = nil) {
            self.file = file
            self.keyID = keyID
            self.teamID = teamID
        }

        fileprivate func completed(by other: Key) -> Key {
            Key(
                file: file ?? other.file, keyID: keyID ?? other.keyID,
                teamID: teamID ?? other.teamID
            )
        }
    }

    /// A container and the bundle ID of its app.
    package struct Container: Sendable, Hashable {
        package var container: String
        package var topic: String
        package var key = Key()

        /// Creates a container that uses the common key.
        package init(container: String, topic: String, key: Key = Key()) {
            self.container = container
            self.topic = topic
            self.key = key
        }
    }

    /// The key of all containers without one of their own.
    package var key = Key()
    package var containers: [Container] = []
    /// The port of Apple's hosts: 443, or 2197 where a firewall asks for it.
    package var port = 443
    /// A gateway to use instead of Apple's, such as `https://127.0.0.1:8443`.
    package var gateway: String?
    /// The certificates that a gateway of one's own is trusted by.
    package var trustRoots: URL?

    /// Creates empty settings.
    package init() {}

    /// The configuration these settings stand for; nil when there is no key.
    ///
    /// Reads the key files. What is missing or wrong fails with ``OperatorError``.
    package func configuration() throws -> APNsConfiguration? {
        guard self != APNsSettings() else { return nil }
        guard !containers.isEmpty else {
            throw OperatorError(
                "There is a key for Apple's push service but no container it is for: name one "
                    + "with --apns-topic CONTAINER=BUNDLE-ID or in the configuration file."
            )
        }
        var configuration = APNsConfiguration(apps: try containers.map(app))
        for environment in CloudEnvironment.allCases {
            configuration.gateways[environment] =
                gateway.map(APNsGateway.init) ?? .apple(environment, port: port)
        }
        configuration.trustRoots = trustRoots?.path
        return configuration
    }

    private func app(_ container: Container) throws -> APNsConfiguration.App {
        let key = container.key.completed(by: key)
        guard let file = key.file, let keyID = key.keyID, let teamID = key.teamID else {
            throw OperatorError(
                "Pushes of \(container.container) to Apple's push service need a key file, a key "
                    + "ID and a team ID; \(key.missing) is missing."
            )
        }
        guard let text = Self.text(of: file) else {
            throw OperatorError(
                "The key file \(file.path) for Apple's push service cannot be read."
            )
        }
        do {
            let credentials = try ProviderCredentials(keyID: keyID, teamID: teamID, keyFile: text)
            return APNsConfiguration.App(
                container: container.container, topic: container.topic, credentials: credentials
            )
        } catch {
            throw OperatorError("\(file.path) cannot be used for Apple's push service: \(error).")
        }
    }

    /// The bytes of a key file that are looked at; a P-256 key has 257.
    private static let keyFileLimit = 16_384

    private static func text(of file: URL) -> String? {
        guard let handle = try? FileHandle(forReadingFrom: file) else { return nil }
        defer { try? handle.close() }
        guard let data = try? handle.read(upToCount: keyFileLimit) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }
}

extension APNsSettings.Key {
    /// What the operator has not configured, for an error.
    fileprivate var missing: String {
        file == nil ? "the key file" : keyID == nil ? "the key ID" : "the team ID"
    }
}
