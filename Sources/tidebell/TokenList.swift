// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellCore
import TidebellServer
import TidebellWire

/// What is printed of API and management tokens.
enum TokenList {
    /// Prints the tokens of a kind, one a line.
    static func print(_ kind: TokenKind, of data: DataOption) async throws {
        let tokens = try await data.withAccounts { try await $0.tokens(kind) }
        guard !tokens.isEmpty else {
            return printError(
                "There are no tokens; make one: tidebell \(kind.command) create\(data.hint)")
        }
        for token in tokens {
            printLine(
                "\(token.id)  \(token.name)  \(TokenScopeText(token.container))  "
                    + UseText(token.createdAt, token.usedAt, token.expiresAt).description
                    + text(of: token.signIn)
                    + (token.task.map { ", for \($0.rawValue) alone" } ?? "")
            )
        }
    }

    /// How users sign in, where the token says so.
    private static func text(of signIn: AppSignIn) -> String {
        (signIn.origins.map { ", sign-in for \($0.joined(separator: " "))" } ?? "")
            + (signIn.callback.map { ", sign-in returns to \($0)" } ?? "")
            + (signIn.methods.map { methods in
                ", sign-in by \(methods.map(\.rawValue).sorted().joined(separator: " and "))"
            } ?? "")
    }

    /// Revokes a token and prints which.
    static func revoke(_ kind: TokenKind, _ id: String, of data: DataOption) async throws {
        let token = try await data.withAccounts { try await $0.revoke(kind, id) }
        printDone(
            "Revoked the token \(token.id) '\(token.name)'; a running server refuses it "
                + "\(kind.ending)."
        )
    }

    /// What is printed of a new token that could not be shown.
    static func fallback(_ kind: TokenKind, _ token: String, _ data: DataOption) -> String {
        "The token was made, but it could not be printed. Revoke it: tidebell "
            + "\(kind.command) revoke \(Accounts.id(ofToken: token))\(data.hint)"
    }
}

/// Where a token is good, as it is printed.
struct TokenScopeText: CustomStringConvertible {
    private let container: ContainerKey?

    /// Creates the text.
    init(_ container: ContainerKey?) { self.container = container }

    var description: String {
        container.map { "\($0.container) (\($0.environment.rawValue))" } ?? "all containers"
    }
}

/// When a token was made and used and when it expires, as it is printed: in UTC.
struct UseText: CustomStringConvertible {
    let description: String

    /// Creates the text; zero is a moment that was not written down.
    init(_ made: Instant, _ used: Instant?, _ expiry: Instant?) {
        let parts = [
            made.rawValue == 0 ? "made before dates were stored" : "made \(Self.text(made))",
            used.map { "used \(Self.text($0))" } ?? "no use recorded",
            expiry.map { "expires \(Self.text($0))" } ?? "does not expire",
        ]
        description = parts.joined(separator: ", ")
    }

    static func text(_ moment: Instant) -> String {
        Date(timeIntervalSince1970: Double(moment.rawValue) / 1000)
            .formatted(
                .iso8601.year().month().day().dateTimeSeparator(.space).time(
                    includingFractionalSeconds: false))
    }
}

extension TokenKind {
    /// The command of these tokens.
    var command: String {
        switch self {
        case .api: "api-token"
        case .management: "admin-token"
        }
    }

    /// When a running server refuses a revoked one: API tokens are remembered for a moment.
    fileprivate var ending: String {
        switch self {
        case .api: "in seconds"
        case .management: "at once"
        }
    }
}

/// How long a token is valid that may be valid for ever.
struct OptionalValidity: ParsableArguments {
    @Option(help: "How many days the token is valid (default: until it is revoked).")
    var days: Int?

    func validate() throws {
        guard days.map({ (1...UserCommand.Validity.longest).contains($0) }) ?? true else {
            throw ValidationError("A token is valid for 1 to \(UserCommand.Validity.longest) days.")
        }
    }

    /// The time; nil for ever.
    var duration: Duration? { days.map { .seconds($0 * 86400) } }
}

extension ContainerKey {
    /// Creates the key from two options.
    init(named name: String, in environment: CloudEnvironment?) {
        self.init(container: name, environment: environment ?? .development)
    }
}
