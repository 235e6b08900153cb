// SPDX-License-Identifier: Apache-2.0
import TidebellAPNs
import TidebellWire
import Foundation

extension FakeAPNs {
    /// How a server sends here instead of to Apple.
    func configuration() throws -> APNsConfiguration {
        let credentials = try ProviderCredentials(
            keyID: keyID, teamID: teamID, keyFile: keyFile
        )
        var configuration = APNsConfiguration(
            apps: apps.sorted { $0.key < $1.key }.map {
                APNsConfiguration.App(
                    container: $0.key, topic: $0.value, credentials: credentials
                )
            }
        )
        for environment in CloudEnvironment.allCases {
            configuration.gateways[environment] = APNsGateway(url: url)
        }
        configuration.trustRoots = certificateFile.path
        // By real time, which shows how busy the machine is.
        configuration.requestTimeout = safetyLimit
        return configuration
    }
}
