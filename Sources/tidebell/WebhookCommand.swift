// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellCore
import TidebellServer
import TidebellWire

/// `tidebell webhook`.
struct WebhookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook",
        abstract: "Manage webhooks, which post a container's pushes to a URL.",
        discussion: """
            Every push is one signed POST, as in the Standard Webhooks specification. A running \
            server notices changed webhooks within seconds.
            """,
        subcommands: [Add.self, List.self, Remove.self, Enable.self, Test.self]
    )

    /// Which webhook.
    struct Target: ParsableArguments {
        @Argument(help: "The webhook's number, as `tidebell webhook list` prints it.")
        var number: Int64

        @OptionGroup var data: DataOption

        var id: WebhookID { WebhookID(rawValue: number) }
    }

    /// `tidebell webhook add`.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a webhook and print its signing secret."
        )

        @Argument(help: "The container, such as iCloud.org.example.notes.") var container: String
        @Argument(help: "The URL to post to, https or http.") var url: String

        @Option(help: "The environment of the container.")
        var environment = CloudEnvironment.development

        @OptionGroup var data: DataOption

        func run() async throws {
            let key = ContainerKey(
                container: container,
                environment: environment
            )
            let (webhook, secret) = try await data.withWebhooks {
                try await $0.add(for: key, url: url)
            }
            printLine(
                """
                Added webhook \(webhook.id.rawValue) for \(container) (\(environment.rawValue)). \
                Its receiver needs this secret, which is shown only now:

                   \(secret)

                Try it: tidebell webhook test \(webhook.id.rawValue)\(data.hint)
                """,
                orElse: """
                    Webhook \(webhook.id.rawValue) was added, but its secret could not be \
                    printed. Remove it: tidebell webhook remove \
                    \(webhook.id.rawValue)\(data.hint)
                    """
            )
        }
    }

    /// `tidebell webhook list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print all webhooks.")

        @OptionGroup var data: DataOption

        func run() async throws {
            let webhooks = try await data.withWebhooks { try await $0.list() }
            guard !webhooks.isEmpty else {
                return printError(
                    "There are no webhooks; add one: tidebell webhook add CONTAINER URL"
                        + data.hint
                )
            }
            for listed in webhooks {
                let webhook = listed.webhook
                let state =
                    webhook.disabledReason.map { "disabled: \($0)" }
                    ?? (listed.isBehind ? "pushes are waiting" : "up to date")
                printLine(
                    "\(webhook.id.rawValue)  \(webhook.container.container) "
                        + "\(webhook.container.environment.rawValue)  \(webhook.url)  \(state)"
                )
            }
        }
    }

    /// `tidebell webhook remove`.
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a webhook; waiting pushes are not posted any more."
        )

        @OptionGroup var target: Target

        func run() async throws {
            try await target.data.withWebhooks { try await $0.remove(target.id) }
            printDone("Removed webhook \(target.number).")
        }
    }

    /// `tidebell webhook enable`.
    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Enable a webhook that was disabled; it continues where it stopped."
        )

        @OptionGroup var target: Target

        func run() async throws {
            try await target.data.withWebhooks { try await $0.enable(target.id) }
            printDone("Enabled webhook \(target.number).")
        }
    }

    /// `tidebell webhook test`.
    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Post a signed sample push, and print the status of the answer."
        )

        @OptionGroup var target: Target

        func run() async throws {
            let status = try await target.data.withWebhooks { try await $0.test(target.id) }
            guard (200..<300).contains(status) else {
                throw OperatorError(
                    "The receiver answered \(status); a push would be sent again."
                )
            }
            printLine("The receiver answered \(status).")
        }
    }
}
