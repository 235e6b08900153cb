// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellCore
import TidebellServer
import TidebellWire

/// `tidebell user`.
struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Add, list, disable and remove users; make their tokens and set their passwords.",
        subcommands: [
            Add.self, List.self, Token.self, SetPassword.self, ResetLink.self, Sessions.self,
            SignOut.self,
            Disable.self, Enable.self, Address.self, Remove.self, Erase.self,
        ]
    )

    /// How long a token is valid.
    struct Validity: ParsableArguments {
        /// The longest validity that can be asked for: ten years.
        static let longest = 3650

        @Option(help: "How many days the token is valid.")
        var days = Int(AddWebToken.lifetime.components.seconds / 86400)

        func validate() throws {
            guard (1...Self.longest).contains(days) else {
                throw ValidationError("A token is valid for 1 to \(Self.longest) days.")
            }
        }

        var duration: Duration { .seconds(days * 86400) }
    }

    /// `tidebell user add`.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a user and print a web token for them."
        )

        @Argument(help: "The user's name.") var name: String

        @Flag(
            help: "Begin a new cloud if there is none in the folder, as `tidebell serve` does."
        )
        var newCloud = false

        @OptionGroup var validity: Validity
        @OptionGroup var data: DataOption

        func run() async throws {
            let token = try await data.withAccounts(beginningCloud: newCloud) {
                try await $0.add(named: name, tokenLifetime: validity.duration)
            }
            printLine(
                "Added the user '\(name)'.\n"
                    + UserCommand.text(of: token, of: name, validity),
                orElse: """
                    The user '\(name)' was added, but the web token could not be printed. \
                    Make another one: tidebell user token \(name)\(data.hint). End the first one: \
                    tidebell user sign-out \(name)\(data.hint)
                    """
            )
        }
    }

    /// `tidebell user list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the names of all users.")

        @Flag(help: "Print the removed users whose data is kept.")
        var removed = false

        @OptionGroup var data: DataOption

        func run() async throws {
            if removed { return try await listRemoved() }
            let users = try await data.withAccounts { try await $0.users() }
            guard !users.isEmpty else {
                return printError("There are no users yet; add one: tidebell user add NAME")
            }
            for user in users {
                printLine(user.isDisabled ? "\(user.name)  disabled" : user.name)
            }
        }

        private func listRemoved() async throws {
            let (accounts, lost) = try await data.withAccounts {
                (try await $0.removed(), try await $0.lostUsers())
            }
            guard !accounts.isEmpty || !lost.isEmpty else {
                return printError("There is no data of removed users.")
            }
            for account in accounts {
                printLine(
                    "\(account.account.rawValue)  \(account.name ?? "(name not kept)")  "
                        + (account.erasure == .none ? "data kept" : "being erased")
                )
            }
            for name in lost { printLine("\(name)  (name not kept)  data kept") }
        }
    }

    /// `tidebell user token`.
    struct Token: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make another web token for a user and print it; the others stay valid."
        )

        @Argument(help: "The user's name.") var name: String

        @Option(
            help: ArgumentHelp(
                "The only container where the token is valid (default: all).", valueName: "id"
            )
        )
        var container: String?

        @Option(help: "The environment of the container (default: development).")
        var environment: CloudEnvironment?

        @OptionGroup var validity: Validity
        @OptionGroup var data: DataOption

        func validate() throws {
            guard environment == nil || container != nil else {
                throw ValidationError("--environment goes with --container only.")
            }
        }

        func run() async throws {
            let key = container.map { ContainerKey(named: $0, in: environment) }
            let (token, isDisabled) = try await data.withAccounts {
                (
                    try await $0.makeWebToken(for: name, in: key, lifetime: validity.duration),
                    try await $0.isDisabled(name)
                )
            }
            let refusal =
                "\n\nThe user '\(name)' is disabled: the token is refused until you run tidebell "
                + "user enable \(name)\(data.hint)"
            printLine(
                UserCommand.text(of: token, of: name, validity, in: key)
                    + (isDisabled ? refusal : ""),
                orElse: """
                    The token was made, but it could not be printed. End it: tidebell user \
                    sign-out \(name) --session \(Accounts.id(ofToken: token))\(data.hint)
                    """
            )
        }
    }
}

extension UserCommand {
    /// What is printed of a new web token.
    fileprivate static func text(
        of token: String, of name: String, _ validity: Validity,
        in container: ContainerKey? = nil
    ) -> String {
        let scope =
            container.map { "in \(TokenScopeText($0)) only" }
            ?? "in all containers, for your own use"
        let days = validity.days == 1 ? "1 day" : "\(validity.days) days"
        let environment = container?.environment == .production ? " --environment production" : ""
        return """
            A web token for '\(name)', valid for \(days), \(scope); it is shown only now:

               export TIDEBELL_WEB_AUTH_TOKEN=\(token)

            To sign in a device with it (the command asks for the token):

               tidebell login --container \(container?.container ?? "ID")\(environment) --token-file -
            """
    }
}
