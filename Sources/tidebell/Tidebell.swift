// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellHTTP
import TidebellServer

@main
enum Program {
    /// Runs the command line.
    static func main() async {
        OpenFiles.openStandardFiles()
        if let mistake = MistypedCommand(CommandLine.arguments.dropFirst()) {
            printError(mistake.description)
            Tidebell.exit(withError: ExitCode.validationFailure)
        }
        await Tidebell.main()
    }
}

/// The command line.
struct Tidebell: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidebell",
        abstract: "An open-source CloudKit: a cloud on your own machine.",
        discussion: """
            Start with `tidebell serve`. On its first run it prints what programs that use the \
            CloudKit module need to connect to it.
            """,
        version: Version.text,
        subcommands: [
            ServeCommand.self, InitCommand.self,
            UserCommand.self, APITokenCommand.self, AdminTokenCommand.self,
            ServerKeyCommand.self, SchemaCommand.self, QueryCommand.self,
            WebhookCommand.self, PushCommand.self, LoginCommand.self, LogoutCommand.self,
            WhoAmICommand.self, PermissionCommand.self, BackupCommand.self, RestoreCommand.self,
            MigrateCommand.self, CellCommand.self,
            CheckCommand.self, UsageCommand.self, LimitsCommand.self, RootKeyCommand.self,
        ]
    )
}
