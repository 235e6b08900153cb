// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellCore
import TidebellHTTP

/// The identity provider that users may sign in with, on the sign-in page.
struct OpenIDOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The URL of an OpenID Connect provider that users may sign in with; all its users get an account at \
            the first sign-in. Register PUBLIC-URL/sign-in/callback there as the redirect URL.
            """,
            valueName: "url")
    )
    var openidIssuer: String?

    @Option(help: ArgumentHelp("The client ID of this server at the provider.", valueName: "id"))
    var openidClientID: String?

    @Option(
        help: ArgumentHelp(
            "A file with the client secret from the provider, if any.", valueName: "file"),
        completion: .file()
    )
    var openidClientSecretFile: String?

    @Option(help: "The provider's name on the sign-in page (default: the name of its host).")
    var openidName: String?

    /// The most bytes of a secret.
    private static let mostBytes = 4096

    func validate() throws {
        guard (openidIssuer == nil) == (openidClientID == nil) else {
            throw ValidationError("--openid-issuer and --openid-client-id must be used together.")
        }
        guard openidIssuer != nil || (openidClientSecretFile == nil && openidName == nil) else {
            throw ValidationError("The other --openid options need --openid-issuer.")
        }
    }

    /// The provider; nil for none.
    func configuration() throws -> OpenIDProvider.Configuration? {
        guard let openidIssuer, let openidClientID else { return nil }
        let host = AppSignIn.origin(of: openidIssuer).map { $0.drop { $0 != "/" }.dropFirst(2) }
        let configuration = OpenIDProvider.Configuration(
            issuer: openidIssuer, clientID: openidClientID,
            clientSecret: try openidClientSecretFile.map(Self.secret),
            name: openidName ?? host.map { String($0) } ?? "")
        try configuration.check()
        return configuration
    }

    private static func secret(in path: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: path), data.count <= mostBytes,
            let text = String(data: data, encoding: .utf8)?
                .trimmingCharacters(in: .whitespacesAndNewlines), !text.isEmpty
        else {
            throw OperatorError(
                "'\(path)' is not a file with a secret of at most \(mostBytes) bytes.")
        }
        return text
    }
}
