// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellCore
import TidebellServer

extension UserCommand {
    /// `tidebell user password`.
    struct SetPassword: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "password",
            abstract: "Set the password of a user, for `tidebell login` and the sign-in page.",
            discussion: """
                All sessions of the user end, so devices must sign in again. Tokens from `tidebell \
                user token` end too, unless you keep them.
                """
        )

        @Argument(help: "The user's name.") var name: String

        @Flag(help: "Keep the tokens that `tidebell user token` made valid.")
        var keepTokens = false

        @OptionGroup var password: PasswordOption
        @OptionGroup var data: DataOption

        func run() async throws {
            let text = try password.readNew()
            let ended = try await data.withAccounts {
                try await $0.setPassword(text, of: name, keepsTokens: keepTokens)
            }
            printDone(
                "The user '\(name)' has a new password; \(UserCommand.ended(ended))."
            )
        }
    }

    /// `tidebell user reset-link`.
    struct ResetLink: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset-link",
            abstract: "Print a link with which a user can set a new password, once.",
            discussion: """
                Send it only to the user. A new link makes the previous one invalid. Setting the password \
                ends all sessions and tokens of the user.
                """
        )

        /// The longest validity that can be asked for: a month.
        private static let mostHours = 744

        @Argument(help: "The user's name.") var name: String

        @Option(help: "How many hours the link is valid.")
        var hours = Int(MakeResetLink.lifetime.components.seconds / 3600)

        @Option(
            help: ArgumentHelp(
                "The URL by which browsers reach the server (default: \(Self.standardURL)).",
                valueName: "url")
        )
        var publicURL: String?

        @OptionGroup var data: DataOption

        private static let standardURL = "http://127.0.0.1:\(ServerConfiguration.defaultPort)"

        func validate() throws {
            guard (1...Self.mostHours).contains(hours) else {
                throw ValidationError("A link is valid for 1 to \(Self.mostHours) hours.")
            }
        }

        func run() async throws {
            let path = try await data.withAccounts {
                try await $0.makeResetLink(for: name, lifetime: .seconds(hours * 3600))
            }
            let url = publicURL ?? Self.standardURL
            printLine(
                """
                A link for '\(name)' to set a new password. It is valid for \(hours) hours, can be used once, \
                and is shown only now:

                   \(url.hasSuffix("/") ? String(url.dropLast()) : url)\(path)
                """,
                orElse: "A link was made, but it could not be printed; a new link makes it invalid."
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
                return printError("The user '\(name)' has no sessions.")
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
                "The ID of one session, as `tidebell user sessions` prints it. Sessions that were "
                    + "begun with it end too.",
                valueName: "id"
            )
        )
        var session: String?

        @OptionGroup var data: DataOption

        func run() async throws {
            let ended = try await data.withAccounts {
                try await $0.signOut(name, session: session)
            }
            printDone("The user '\(name)': \(UserCommand.ended(ended)).")
        }
    }

    /// `tidebell user disable`.
    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Disable a user; their data is kept."
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
                        + (ended == 0 ? "." : "; \(sessions) begun since then ended.")
                )
            }
            printDone(
                "Disabled the user '\(name)'. A running server accepts no writes from them any more and "
                    + "refuses their tokens within seconds; their account status is 'restricted'. "
                    + (ended == 0
                        ? "There were no sessions to end."
                        : "\(sessions) ended; enabling the user does not restore them.")
            )
        }
    }

    /// `tidebell user enable`.
    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Enable a disabled user."
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
                "Enabled the user '\(name)'. They can sign in again; sessions and tokens that ended "
                    + "are not restored."
            )
        }
    }
}

extension UserCommand {
    /// Returns how many sessions ended, in words.
    fileprivate static func ended(_ count: Int) -> String {
        switch count {
        case 0: "there were no sessions to end"
        case 1: "1 session ended, within seconds on a running server"
        default: "\(count) sessions ended, within seconds on a running server"
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
