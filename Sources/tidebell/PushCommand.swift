// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellCore
import TidebellServer
import TidebellWire

/// `tidebell push`.
struct PushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Find out why a push was sent or not.",
        subcommands: [Explain.self]
    )

    /// `tidebell push explain`.
    struct Explain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Explain which pushes a change caused, and why others were not sent.",
            discussion: """
                Prints for every change which subscriptions it fired and by which rule, the \
                notification, which devices were notified when and how, and why the others were \
                not. Works while a server runs; the last second may be missing.

                  tidebell push explain                     the newest changes
                  tidebell push explain n1                  the newest changes of the record n1
                  tidebell push explain --user anna         databases and subscriptions of anna
                  tidebell push explain --subscription all  the subscription with the ID 'all'
                """
        )

        @Argument(help: "The name of a record (default: all).")
        var record: String?

        @Option(help: ArgumentHelp("Only changes in this container.", valueName: "id"))
        var container: String?

        @Option(help: "Only changes in this environment.")
        var environment: CloudEnvironment?

        @Option(help: "Only changes in this kind of database.")
        var database: DatabaseScope?

        @Option(help: "Only databases and subscriptions of this user.")
        var user: String?

        @Option(help: "Only changes in this zone.")
        var zone: String?

        @Option(help: "Only changes of records of this type.")
        var type: String?

        @Option(help: ArgumentHelp("Only this subscription.", valueName: "id"))
        var subscription: String?

        @Option(help: ArgumentHelp("Only the changes in this notification.", valueName: "id"))
        var notification: String?

        @Option(help: "How many changes to explain, newest first.")
        var last = PushExplanation.Query().last

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup var data: DataOption

        func validate() throws {
            guard (1...PushExplanation.Query.mostChanges).contains(last) else {
                throw ValidationError(
                    "--last must be 1 to \(PushExplanation.Query.mostChanges), not \(last)."
                )
            }
        }

        func run() async throws {
            let query = query
            let explanation = try await data.withExistingStore { store in
                try await store.read { try PushExplanation.explain(query, in: $0) }
            }
            if json {
                let bytes = JSONWriter.write { explanation.write(to: &$0) }
                printLine(String(decoding: bytes, as: UTF8.self))
            } else {
                printLine(explanation.text)
            }
        }

        private var query: PushExplanation.Query {
            var query = PushExplanation.Query()
            query.container = container
            query.environment = environment
            query.scope = database
            query.userName = user
            query.zoneName = zone
            query.recordName = record
            query.recordType = type
            query.subscriptionID = subscription
            // Notification IDs are lower-case (PUSH-7).
            query.notificationID = notification?.lowercased()
            query.last = last
            return query
        }
    }
}
