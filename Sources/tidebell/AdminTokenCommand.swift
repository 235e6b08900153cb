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
            abstract: "Make a management token, valid for all containers, and print it.",
            discussion: """
                With it a program does what an operator does: it can deploy schemas and remove \
                development's data. A program that only reads /metrics gets one with --only metrics.
                """
        )

        @Option(help: "What the token is for, as a note for yourself.")
        var name = "unnamed"

        @Option(
            name: .customLong("only"),
            help: ArgumentHelp(
                "What alone the token is good for: metrics (default: everything).",
                valueName: "task"))
        var task: ManagementTask?

        @OptionGroup var validity: OptionalValidity
        @OptionGroup var data: DataOption

        func run() async throws {
            let token = try await data.withAccounts {
                try await $0.makeAdminToken(
                    named: name, lifetime: validity.duration, for: task)
            }
            let (kind, path) =
                switch task {
                case .metrics: ("A management token for metrics alone", "metrics")
                case nil:
                    (
                        "A management token",
                        "admin/1/CONTAINER/development/push/explain?record=NAME"
                    )
                }
            printLine(
                """
                \(kind); it is shown only now:

                   export TIDEBELL_ADMIN_TOKEN=\(token)

                Use it, for example, like this:

                   curl -H "Authorization: Bearer $TIDEBELL_ADMIN_TOKEN" \
                "$TIDEBELL_SERVER/\(path)"
                """,
                orElse: TokenList.fallback(.management, token, data)
            )
        }
    }
}
