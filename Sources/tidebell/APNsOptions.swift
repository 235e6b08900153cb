// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellServer

/// The options of `tidebell serve` about Apple's push service; they go before what
/// the configuration file has.
struct APNsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The .p8 file with the team's key.", valueName: "file"),
        completion: .file()
    )
    var apnsKeyFile: String?

    @Option(help: ArgumentHelp("The ID of the key, ten characters.", valueName: "id"))
    var apnsKeyID: String?

    @Option(help: ArgumentHelp("The ID of the team, ten characters.", valueName: "id"))
    var apnsTeamID: String?

    @Option(
        help: ArgumentHelp(
            "A container and the bundle ID of its app. May be given several times.",
            valueName: "container=bundle-id"
        )
    )
    var apnsTopic: [String] = []

    @Option(
        help: ArgumentHelp(
            "A server to send to instead of Apple's: https://HOST:PORT.", valueName: "url"
        )
    )
    var apnsGateway: String?

    @Option(
        help: ArgumentHelp(
            "A PEM file with the root certificates for that server.", valueName: "file"
        ),
        completion: .file()
    )
    var apnsTrustRoots: String?

    func validate() throws {
        for text in apnsTopic where Self.container(text) == nil {
            throw ValidationError("--apns-topic must be CONTAINER=BUNDLE-ID, not '\(text)'.")
        }
        if let apnsGateway {
            do {
                _ = try APNsSettings.checkedGateway(apnsGateway)
            } catch {
                throw ValidationError("--apns-gateway: \(error)")
            }
        }
    }

    /// Adds what was given to the settings.
    func apply(to settings: inout APNsSettings) {
        if let apnsKeyFile { settings.key.file = URL(fileURLWithPath: apnsKeyFile) }
        if let apnsKeyID { settings.key.keyID = apnsKeyID }
        if let apnsTeamID { settings.key.teamID = apnsTeamID }
        if let apnsGateway { settings.gateway = apnsGateway }
        if let apnsTrustRoots { settings.trustRoots = URL(fileURLWithPath: apnsTrustRoots) }
        for container in apnsTopic.compactMap(Self.container) {
            settings.containers.removeAll { $0.container == container.container }
            settings.containers.append(container)
        }
    }

    private static func container(_ text: String) -> APNsSettings.Container? {
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        return APNsSettings.Container(container: String(parts[0]), topic: String(parts[1]))
    }
}
