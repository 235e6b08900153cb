// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellDevice
import TidebellWire

/// `tidebell permission`.
struct PermissionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "permission",
        abstract: "Decide whether apps of a container let other users find you.",
        discussion: """
            An app that asks for the permission is granted it unless you denied it here. The \
            decision is kept on the server, for you and the container, and holds on all devices.
            """
    )

    @Argument(help: "show, grant, deny, or reset to undecided.")
    var decision = DeviceLogin.Decision.show

    @OptionGroup var target: ContainerOptions

    func run() async throws {
        try await Device.run { login in
            let name = try target.container(login)
            let environment = target.environment?.rawValue ?? login.environment
            let answer = try await login.decide(decision, in: name, environment: environment)
            printLine("userDiscoverability in \(name) (\(environment)): \(answer ?? "undecided")")
        }
    }
}
