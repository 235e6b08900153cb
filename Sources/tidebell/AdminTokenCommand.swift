// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// `tidebell admin-token`.
struct AdminTokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin-token",
        abstract: "Make management tokens, with which you ask a running server.",
        subcommands: [Create.self]
    )

    /// `tidebell admin-token create`.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a management token, valid for all containers, and print it."
        )

        @Option(help: "What the token is for; for your own memory.")
        var name = "unnamed"

        @OptionGroup var data: DataOption

        func run() async throws {
            let token = try await data.withAccounts { try await $0.makeAdminToken(named: name) }
            say(
                """
                A management token; it is shown only now:

                   export TIDEBELL_ADMIN_TOKEN=\(token)

                With it, for example:

                   curl -H "Authorization: Bearer $TIDEBELL_ADMIN_TOKEN" \
                "$TIDEBELL_SERVER/admin/1/CONTAINER/development/push/explain?record=NAME"
                """
            )
        }
    }
}
