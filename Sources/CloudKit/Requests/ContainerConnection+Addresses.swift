// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

extension ContainerConnection {
    /// The device's configuration for whoever is signed in to the container now, and the
    /// container's identifier, or the error that names what to configure.
    func configured() throws(CKError) -> (DeviceConfiguration, container: String) {
        let address = try address()
        return (address.configuration, address.container)
    }

    /// The container of whoever is signed in now, or the error that names what to
    /// configure.
    func address() throws(CKError) -> Address {
        _ = try session.configuration.get()
        guard let identifier else {
            throw .local(
                .badContainer,
                "This device has no default container: sign in with tidebell login, or set "
                    + Self.remedy(DeviceConfiguration.Variable.container, "container")
            )
        }
        do {
            try DeviceConfiguration.check(container: identifier)
        } catch {
            throw CKError(error)
        }
        let (configuration, account) = try session.accounts.configuration(of: identifier)
        return Address(container: identifier, configuration: configuration, account: account)
    }

    /// A container of whoever is signed in: where a request goes, and for whom.
    struct Address: Sendable {
        /// The container's identifier.
        let container: String
        /// The device's configuration, with the user's tokens.
        var configuration: DeviceConfiguration
        /// The user; nil when nobody is signed in.
        let account: DeviceAccount?
    }

    /// Who is signed in now, for work that is begun.
    var accountPin: AccountPin {
        AccountPin(account: identifier.flatMap { session.accounts.account(of: $0) })
    }

    /// Returns path and query of a call, or the error that names what to configure.
    func path(of call: WebServicesCall, at address: Address) throws(CKError) -> String {
        try path(call.route.path, call.scope, needsUser: call.needsUser, at: address)
    }

    /// Returns path and query of an endpoint that is in no database and needs a user.
    func path(
        of endpoint: any WireEndpoint.Type,
        parameters: [(String, String)] = [],
        at address: Address
    ) throws(CKError) -> String {
        try path(endpoint.route.path, nil, needsUser: true, at: address)
            + parameters.map { "&\($0.0)=\(PercentEncoding.encoded($0.1))" }.joined()
    }

    private func path(
        _ path: WirePath, _ scope: DatabaseScope?, needsUser: Bool, at address: Address
    ) throws(CKError) -> String {
        try path.text(in: address.container, address.configuration.environment, scope)
            + query(address, needsUser: needsUser)
    }

    private func query(_ address: Address, needsUser: Bool) throws(CKError) -> String {
        let configuration = address.configuration
        guard let apiToken = configuration.apiToken else {
            throw .local(
                .notAuthenticated,
                "This device has no API token: \(login(address)), or set "
                    + Self.remedy(DeviceConfiguration.Variable.apiToken, "apiToken")
            )
        }
        if needsUser && configuration.webAuthToken == nil {
            throw .local(
                .notAuthenticated,
                "No user is signed in on this device: \(login(address)), or set "
                    + Self.remedy(DeviceConfiguration.Variable.webAuthToken, "webAuthToken")
            )
        }
        return configuration.query(apiToken: apiToken)
    }

    /// What to do where nobody is signed in to the container: see whether its name is right, if somebody is to others.
    private func login(_ address: Address) -> String {
        let way = "sign in with tidebell login --container \(address.container)"
        let others = session.accounts.signedInContainers
        guard !others.isEmpty else { return way }
        if let near = NearName.of(address.container, among: others) {
            return "did you mean \(near), where a user is signed in? Otherwise \(way)"
        }
        let named = others.prefix(Self.mostNamed)
        let more = others.count > named.count ? ", …" : ""
        return "a user is signed in to \(named.joined(separator: ", "))\(more); \(way)"
    }

    /// The most containers that an error names.
    private static let mostNamed = 5

    private static func remedy(_ variable: String, _ member: String) -> String {
        "\(variable), or \"\(member)\" in \(DeviceConfiguration.fileName) of the folder "
            + "\(DeviceConfiguration.Variable.home) names."
    }
}
