// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellServer
import TidebellCore

/// `tidebell admin-token`.
struct AdminTokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin-token",
        abstract: "Make, list and revoke management tokens, for requests of the operator.",
        subcommands: [Create.self, List.self, Revoke.self]
    )

    /// `tidebell admin-token list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the IDs of all management tokens; the tokens are not stored."
        )

        @OptionGroup var data: DataOption

        func run() async throws { try await TokenList.print(.management, of: data) }
    }

    /// `tidebell admin-token revoke`.
    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a management token: a running server refuses it at once."
        )

        @Argument(help: "The token's ID, as `tidebell admin-token list` prints it.")
        var id: String
        @OptionGroup var data: DataOption

        func run() async throws { try await TokenList.revoke(.management, id, of: data) }
    }

    /// `tidebell admin-token create`.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a management token, valid for all containers, and print it."
        )

        @Option(help: "What the token is for, as a note for yourself.")
        var name = "unnamed"

        @OptionGroup var validity: OptionalValidity
        @OptionGroup var data: DataOption

        func run() async throws {
            let token = try await data.withAccounts {
                try await $0.makeAdminToken(named: name, lifetime: validity.duration)
            }
            printLine(
                """
                A management token; it is shown only now:

                   export TIDEBELL_ADMIN_TOKEN=\(token)

                Use it, for example, like this:

                   curl -H "Authorization: Bearer $TIDEBELL_ADMIN_TOKEN" \
                "$TIDEBELL_SERVER/admin/1/CONTAINER/development/push/explain?record=NAME"
                """,
                orElse: TokenList.fallback(.management, token, data)
            )
        }
    }
}
