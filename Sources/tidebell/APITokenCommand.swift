// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellServer
import TidebellWire
import TidebellCore

/// `tidebell api-token`.
struct APITokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "api-token",
        abstract: "Make, list and revoke API tokens. Every program needs one, in addition to its "
            + "user's web token.",
        subcommands: [Create.self, List.self, Revoke.self]
    )

    /// `tidebell api-token list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the IDs of all API tokens; the tokens themselves are not stored."
        )

        @OptionGroup var data: DataOption

        func run() async throws { try await TokenList.print(.api, of: data) }
    }

    /// `tidebell api-token revoke`.
    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke an API token: a running server refuses it within seconds."
        )

        @Argument(help: "The token's ID, as `tidebell api-token list` prints it.") var id: String
        @OptionGroup var data: DataOption

        func run() async throws { try await TokenList.revoke(.api, id, of: data) }
    }

    /// `tidebell api-token create`.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make an API token, for one container or for all, and print it.",
            discussion: """
                One with --origin or --callback is of a web app, in whose pages everybody finds it: its users sign in \
                on the server's page. `tidebell login` without a password takes one that has neither.
                """
        )

        @Option(
            help: ArgumentHelp(
                "The container, such as iCloud.org.example.notes (default: all).", valueName: "id"
            )
        )
        var container: String?

        @Option(help: "The environment of the container.")
        var environment: CloudEnvironment?

        @Option(help: "What the token is for, as a note for yourself.")
        var name = "unnamed"

        @Option(
            name: .customLong("origin"),
            help: ArgumentHelp(
                """
                An origin such as https://notes.example whose pages get the web token after a sign-in on \
                the server's page; may be given several times. '*' allows all origins (default: pages of \
                this machine and of the server).
                """,
                valueName: "url")
        )
        var origins: [String] = []

        @Option(
            help: ArgumentHelp(
                """
                Where the browser goes with the web token after a sign-in, instead of passing it to the page \
                that asked for it.
                """,
                valueName: "url")
        )
        var callback: String?

        @Option(
            name: .customLong("sign-in"),
            help: ArgumentHelp(
                """
                What users may sign in with: their 'password', or 'provider', the identity provider of \
                the server; may be given several times (default: both).
                """,
                valueName: "method")
        )
        var methods: [AppSignIn.Method] = []

        @OptionGroup var validity: OptionalValidity
        @OptionGroup var data: DataOption

        func validate() throws {
            guard environment == nil || container != nil else {
                throw ValidationError("--environment can be used with --container only.")
            }
        }

        func run() async throws {
            let key = container.map { ContainerKey(named: $0, in: environment) }
            let token = try await data.withAccounts {
                try await $0.makeAPIToken(
                    named: name, for: key, lifetime: validity.duration,
                    signIn: AppSignIn(
                        origins: origins.isEmpty ? nil : origins, callback: callback,
                        methods: methods.isEmpty ? nil : Set(methods))
                )
            }
            let scope =
                key.map { "the container \($0.container) (\($0.environment.rawValue))" }
                ?? "all containers"
            printLine(
                """
                An API token for \(scope); it is shown only now:

                   export TIDEBELL_API_TOKEN=\(token)
                """,
                orElse: TokenList.fallback(.api, token, data)
            )
        }
    }
}

extension AppSignIn.Method: ExpressibleByArgument {}
