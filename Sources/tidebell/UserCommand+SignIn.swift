// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellCore
import TidebellServer

extension UserCommand {
    /// `tidebell user password`.
    struct SetPassword: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "password",
            abstract: "Give a user a password for `tidebell login`, replacing the one before.",
            discussion: """
                All sessions of the user end: devices sign in again. Tokens of `tidebell user \
                token` end too, unless you keep them.
                """
        )

        @Argument(help: "The user's name.") var name: String

        @Flag(help: "Let the tokens stay valid that `tidebell user token` made.")
        var keepTokens = false

        @OptionGroup var password: PasswordOption
        @OptionGroup var data: DataOption

        func run() async throws {
            let text = try password.readNew()
            let ended = try await data.withAccounts {
                try await $0.setPassword(text, of: name, keepsTokens: keepTokens)
            }
            printDone(
                "The user '\(name)' signs in with the new password; \(UserCommand.ended(ended))."
            )
        }
    }

    /// `tidebell user reset-link`.
    struct ResetLink: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset-link",
            abstract: "Print a link by which a user sets a new password, once.",
            discussion: """
                Send it to the user and nobody else. A new link ends the one before; setting the password \
                ends all sessions and tokens of the user.
                """
        )

        /// The longest validity that can be asked for: a month.
        private static let mostHours = 744

        @Argument(help: "The user's name.") var name: String

        @Option(help: "How many hours the link is good.")
        var hours = Int(MakeResetLink.lifetime.components.seconds / 3600)

        @Option(
            help: ArgumentHelp(
                "The URL browsers reach the server under (default: \(Self.standardURL)).",
                valueName: "url")
        )
        var publicURL: String?

        @OptionGroup var data: DataOption

        private static let standardURL = "http://127.0.0.1:\(ServerConfiguration.defaultPort)"

        func validate() throws {
            guard (1...Self.mostHours).contains(hours) else {
                throw ValidationError("A link is good for 1 to \(Self.mostHours) hours.")
            }
        }

        func run() async throws {
            let path = try await data.withAccounts {
                try await $0.makeResetLink(for: name, lifetime: .seconds(hours * 3600))
            }
            let url = publicURL ?? Self.standardURL
            printLine(
                """
                A link for '\(name)' to set a new password, good once and for \(hours) hours; it is shown \
                only now:

                   \(url.hasSuffix("/") ? String(url.dropLast()) : url)\(path)
                """,
                orElse: "A link was made that nobody saw; another one ends it."
            )
        }
    }

    /// `tidebell user sessions`.
    struct Sessions: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print where a user is signed in: devices, web pages and your own tokens."
        )

        @Argument(help: "The user's name.") var name: String
        @OptionGroup var data: DataOption

        func run() async throws {
            let sessions = try await data.withAccounts { try await $0.sessions(of: name) }
            guard !sessions.isEmpty else {
                return printError("The user '\(name)' is signed in nowhere.")
            }
            for session in sessions {
                printLine(
                    "\(session.id.rawValue)  \(session.origin.text)  \(TokenScopeText(session.container))  "
                        + UseText(session.createdAt, session.usedAt, session.expiresAt).description
                )
            }
        }
    }

    /// `tidebell user sign-out`.
    struct SignOut: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End all sessions of a user, or one of them; the user may sign in again."
        )

        @Argument(help: "The user's name.") var name: String

        @Option(
            help: ArgumentHelp(
                "The ID of one session, as `tidebell user sessions` prints it; those begun with "
                    + "it end too.",
                valueName: "id"
            )
        )
        var session: String?

        @OptionGroup var data: DataOption

        func run() async throws {
            let ended = try await data.withAccounts {
                try await $0.signOut(name, session: session)
            }
            printDone("Of the user '\(name)', \(UserCommand.ended(ended)).")
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
            let (wasDisabled, ended) = try await data.withAccounts {
                (try await $0.isDisabled(name), try await $0.setDisabled(true, name))
            }
            let sessions = ended == 1 ? "1 session or token" : "\(ended) sessions and tokens"
            guard !wasDisabled else {
                return printDone(
                    "The user '\(name)' is disabled already"
                        + (ended == 0 ? "." : "; \(sessions) of since then ended.")
                )
            }
            printDone(
                "Disabled the user '\(name)': a running server takes no write of theirs any more, "
                    + "in seconds it refuses them, and their account status is 'restricted'. "
                    + (ended == 0
                        ? "There were no sessions to end."
                        : "\(sessions) ended; enabling the user does not bring that back.")
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
            let wasDisabled = try await data.withAccounts {
                let wasDisabled = try await $0.isDisabled(name)
                try await $0.setDisabled(false, name)
                return wasDisabled
            }
            guard wasDisabled else {
                return printLine("The user '\(name)' is enabled already.")
            }
            printDone(
                "Enabled the user '\(name)': they may sign in again; sessions and tokens that ended "
                    + "stay ended."
            )
        }
    }
}

extension UserCommand {
    /// Returns how many sessions ended, in words.
    fileprivate static func ended(_ count: Int) -> String {
        switch count {
        case 0: "there were no sessions to end"
        case 1: "1 session ended, in seconds on a running server"
        default: "\(count) sessions ended, in seconds on a running server"
        }
    }
}

extension StoredWebToken.Origin {
    /// What began the session, as it is printed.
    fileprivate var text: String {
        switch self {
        case .operator: "token"
        case .device: "device"
        case .page: "web page"
        case .reset: "link for a new password"
        }
    }
}
