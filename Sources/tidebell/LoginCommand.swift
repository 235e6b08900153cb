// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellCore
import TidebellDevice
import TidebellScheduling
import TidebellServer
import TidebellWire

/// `tidebell login`.
struct LoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Sign a user in on this device, for the programs that use a container.",
        discussion: """
            Without --user or a token, the command shows a code and the URL of the server's sign-in page, \
            where the user enters the code and signs in, here or on another machine. Otherwise the user \
            signs in with a name and a password, or with a web token from `tidebell user token`. The session \
            is kept in $TIDEBELL_HOME (or ~/.tidebell), one for each container and environment; \
            running programs notice it at once. It is renewed as long as it is used; a session with a web \
            token ends with the token.
            """
    )

    @OptionGroup var target: ContainerOptions

    @Option(
        help: ArgumentHelp(
            "The server (default: $TIDEBELL_SERVER, else http://127.0.0.1:8642).", valueName: "url"
        )
    )
    var server: String?

    @Option(
        help: """
            The container's API token (default: $TIDEBELL_API_TOKEN, else the token of another session).
            """
    )
    var apiToken: String?

    @Option(help: "The user who signs in with their password.")
    var user: String?

    @Option(
        help: """
            A web token of the user, instead of name and password. Other processes can read \
            it here: better use --token-file.
            """
    )
    var token: String?

    @OptionGroup var files: TokenFileOptions

    @OptionGroup var password: PasswordOption

    func validate() throws {
        guard [user, token, files.tokenFile].count(where: { $0 != nil }) <= 1 else {
            throw ValidationError(
                "Use only one of --user NAME, --token-file FILE (- asks for the token) and --token; "
                    + "with none of them, you get a code to enter on the server's sign-in page."
            )
        }
        guard user != nil || !password.passwordStdin else {
            throw ValidationError("--password-stdin can be used with --user only.")
        }
        guard apiToken == nil || files.apiTokenFile == nil else {
            throw ValidationError("Give either --api-token or --api-token-file.")
        }
        guard files.inputs + (password.passwordStdin ? 1 : 0) < 2 else {
            throw ValidationError("Only one secret can be read from the standard input.")
        }
    }

    func run() async throws {
        try await Device.run { login in
            let container = try target.container(login)
            if apiToken != nil || token != nil { printError(TokenFileOptions.warning) }
            if let warning = PlainText.warning(signingInAt: server ?? login.server) {
                printError(warning)
            }
            let proof: DeviceLogin.Proof =
                if let user {
                    .password(user: user, password: try password.read())
                } else if let webToken = try files.token() ?? token {
                    .webToken(webToken)
                } else {
                    .code(Self.code)
                }
            let session = try await login.signIn(
                to: container, environment: target.environment?.rawValue, server: server,
                apiToken: try files.apiToken() ?? apiToken, with: proof
            )
            printDone("\(session.user) is signed in to \(session.scope) at \(session.server).")
            Device.warnOfVariable(login)
        }
    }
}

extension LoginCommand {
    /// A sign-in by a code that this prints.
    private static var code: DeviceLogin.DeviceCodeProof {
        DeviceLogin.DeviceCodeProof(
            deviceName: ProcessInfo.processInfo.hostName, clock: Time.system.clock
        ) { page, code, seconds in
            printLine(
                """
                Open this page in a browser, on any machine, and sign in there:

                   \(page)?code=\(code)

                It shows the code \(code), which is good for \(seconds / 60) minutes.
                """)
        }
    }
}

/// `tidebell logout`.
struct LogoutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Sign out on this device: of one container, or of all."
    )

    @OptionGroup var target: ContainerOptions

    @Flag(help: "Sign out of all containers.")
    var all = false

    func validate() throws {
        guard !all || target.container == nil else {
            throw ValidationError("Give either --all or --container.")
        }
    }

    func run() async throws {
        try await Device.run { login in
            let environment = target.environment?.rawValue
            let name = all ? nil : try container(login, environment)
            let ended = try await login.signOut { session in
                (name == nil || session.container == name)
                    && (environment == nil || session.environment == environment)
            }
            guard !ended.isEmpty else {
                throw OperatorError(
                    "No user is signed in\(name.map { " to \($0)" } ?? ""); see tidebell whoami."
                )
            }
            for (session, failure) in ended {
                printDone("\(session.user) is signed out of \(session.scope).")
                guard let failure else { continue }
                printError(
                    "The server could not be notified, so the token of \(session.user) stays valid "
                        + "there: \(failure.reason)"
                )
            }
            Device.warnOfVariable(login)
        }
    }

    /// The container that is meant: the one of the option, or the only one with a session.
    private func container(_ login: DeviceLogin, _ environment: String?) throws -> String {
        if let name = target.container ?? login.defaultContainer { return name }
        let names = Set(
            try login.sessions().filter { environment == nil || $0.environment == environment }
                .map(\.container)
        )
        guard let name = names.first else {
            throw OperatorError("No user is signed in; see tidebell whoami.")
        }
        guard names.count == 1 else {
            throw OperatorError(
                "Name the container with --container, or use --all. You are signed in to: "
                    + "\(names.sorted().joined(separator: ", "))."
            )
        }
        return name
    }
}

/// `tidebell whoami`.
struct WhoAmICommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami",
        abstract: "Print who is signed in on this device, and the account status on the server.",
        aliases: ["status"]
    )

    func run() async throws {
        try await Device.run { login in
            let sessions = try login.sessions()
            guard !sessions.isEmpty else {
                return printError(
                    "No user is signed in; sign in: tidebell login --container ID --user NAME"
                )
            }
            for session in sessions {
                let status = await Self.status(of: session, login)
                printLine("\(session.user)  \(session.scope)  \(session.server)  \(status)")
            }
            Device.warnOfVariable(login)
        }
    }

    /// How the server takes a session, and what to do where it does not.
    private static func status(of session: SignedInSession, _ login: DeviceLogin) async -> String {
        let way =
            "sign in again: tidebell login --container \(session.container)"
            + (session.environment == "production" ? " --environment production" : "")
            + " --user \(session.user)"
        do {
            return switch try await login.status(of: session) {
            case .available: "available"
            case .temporarilyUnavailable: "the session has ended; \(way)"
            case .noAccount: "the server no longer knows the session; \(way)"
            case .restricted: "restricted: the server's operator disabled the account"
            }
        } catch {
            return "unknown: \(error.reason)"
        }
    }
}

/// Which container, in which environment.
struct ContainerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The container, such as iCloud.org.example.notes (default: $TIDEBELL_CONTAINER).",
            valueName: "id"
        )
    )
    var container: String?

    @Option(help: "The container's environment (default: $TIDEBELL_ENVIRONMENT, else development).")
    var environment: CloudEnvironment?

    /// The container that is meant.
    func container(_ login: DeviceLogin) throws -> String {
        guard let name = container ?? login.defaultContainer else {
            throw OperatorError(
                "Name the container, such as --container iCloud.org.example.app")
        }
        return name
    }
}

/// This device.
enum Device {
    /// Runs `body` with the device's sessions; its errors are reported in one sentence.
    static func run(_ body: (DeviceLogin) async throws -> Void) async throws {
        do {
            try await body(DeviceLogin(environment: ProcessInfo.processInfo.environment))
        } catch let error as DeviceError {
            throw OperatorError(sentence(error.reason))
        }
    }

    /// A reason of the server, which begins small, as a sentence.
    private static func sentence(_ text: String) -> String {
        let isClosed = text.last.map { ".?!".contains($0) } ?? true
        return text.prefix(1).uppercased() + text.dropFirst() + (isClosed ? "" : ".")
    }

    /// Prints that a variable wins over what the command did.
    static func warnOfVariable(_ login: DeviceLogin) {
        guard login.isOverridden else { return }
        printError(
            "TIDEBELL_WEB_AUTH_TOKEN is set. Programs with this variable use its token instead of "
                + "the session; unset it."
        )
    }
}

extension SignedInSession {
    /// Container and environment as they are printed.
    var scope: String { "\(container) (\(environment))" }
}
