// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellServer

extension UserCommand {
    /// `tidebell user password`.
    struct SetPassword: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "password",
            abstract: "Give a user a password for `tidebell login`, in place of the one before."
        )

        @Argument(help: "The user's name.") var name: String
        @OptionGroup var password: PasswordOption
        @OptionGroup var data: DataOption

        func run() async throws {
            let text = try password.readNew()
            try await data.withAccounts { try await $0.setPassword(text, of: name) }
            say("The user '\(name)' signs in with the new password; their tokens stay valid.")
        }
    }

    /// `tidebell user disable`.
    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Forbid a user the use of this server; their data stays."
        )

        @Argument(help: "The user's name.") var name: String
        @OptionGroup var data: DataOption

        func run() async throws {
            try await data.withAccounts { try await $0.setDisabled(true, name) }
            say(
                "Disabled the user '\(name)': in seconds a running server refuses them, and their "
                    + "account status is 'restricted'."
            )
        }
    }

    /// `tidebell user enable`.
    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let a disabled user use this server again."
        )

        @Argument(help: "The user's name.") var name: String
        @OptionGroup var data: DataOption

        func run() async throws {
            try await data.withAccounts { try await $0.setDisabled(false, name) }
            say("Enabled the user '\(name)'; their devices are signed in as before.")
        }
    }
}
