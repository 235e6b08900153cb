// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TidebellCore

/// Who a request to an S3-compatible service is from, with the secret that proves it.
struct AWSCredentials: Sendable, Hashable, CustomStringConvertible {
    let keyID: String
    let secret: String
    /// Of credentials that end by themselves.
    var sessionToken: String?

    /// Without the secrets.
    var description: String { keyID }
}

/// Finds credentials where the tools of AWS find them: in the environment (`AWS_ACCESS_KEY_ID`,
/// `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`), or in the shared credentials file
/// (`AWS_SHARED_CREDENTIALS_FILE`, else `~/.aws/credentials`), there under `AWS_PROFILE`.
package final class AWSCredentialsSource: Sendable, CustomStringConvertible {
    /// Bytes of a credentials file.
    private static let fileLimit = 1 << 20

    private enum Place {
        case environment(AWSCredentials)
        case file(URL, profile: String)
    }

    private let place: Place
    private let found: Mutex<AWSCredentials>

    /// Finds the credentials; none, or a file that cannot be read, fails with ``OperatorError``.
    package init(environment: [String: String]) throws {
        func value(_ name: String) -> String? { environment[name].flatMap { $0 == "" ? nil : $0 } }
        switch (value("AWS_ACCESS_KEY_ID"), value("AWS_SECRET_ACCESS_KEY")) {
        case (let keyID?, let secret?):
            let credentials = AWSCredentials(
                keyID: keyID, secret: secret, sessionToken: value("AWS_SESSION_TOKEN"))
            place = .environment(credentials)
            found = Mutex(credentials)
        case (nil, nil):
            let path =
                value("AWS_SHARED_CREDENTIALS_FILE")
                ?? "\(value("HOME") ?? NSHomeDirectory())/.aws/credentials"
            let (file, profile) = (
                URL(fileURLWithPath: path), value("AWS_PROFILE") ?? "default"
            )
            place = .file(file, profile: profile)
            found = Mutex(try Self.read(file, profile: profile))
        default:
            throw OperatorError(
                "Set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or none of them.")
        }
    }

    /// The credentials that were found last.
    var current: AWSCredentials { found.withLock(\.self) }

    /// Reads a file again, which others write who renew credentials; whether there are others now than those that were
    /// used.
    func lookAgain(after used: AWSCredentials) -> Bool {
        if current != used { return true }
        // What cannot be read now is no reason to forget what is there.
        guard case .file(let file, let profile) = place,
            let now = try? Self.read(file, profile: profile)
        else { return false }
        found.withLock { $0 = now }
        return now != used
    }

    /// Where they are from.
    package var description: String {
        switch place {
        case .environment: "the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        case .file(let file, let profile): "the profile '\(profile)' of \(file.path)"
        }
    }

    private static func read(_ file: URL, profile: String) throws -> AWSCredentials {
        let text: String
        do {
            text = String(
                decoding: try DurableFile.contents(of: file, upTo: fileLimit), as: UTF8.self)
        } catch let error as DiskError {
            throw OperatorError(
                "There are no credentials for the bucket: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set, "
                    + "and the credentials file \(file.path) cannot be read: \(error.reason).")
        }
        let values = section(profile, of: text)
        guard let keyID = values["aws_access_key_id"], let secret = values["aws_secret_access_key"]
        else {
            throw OperatorError(
                "The credentials file \(file.path) has no aws_access_key_id and aws_secret_access_key in the "
                    + "profile '\(profile)' (AWS_PROFILE names another one).")
        }
        return AWSCredentials(
            keyID: keyID, secret: secret, sessionToken: values["aws_session_token"])
    }

    /// Returns the values of a section of a file in the form of INI.
    private static func section(_ name: String, of text: String) -> [String: String] {
        var values: [String: String] = [:]
        var isInside = false
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("["), line.hasSuffix("]") {
                isInside =
                    line.dropFirst().dropLast().trimmingCharacters(in: .whitespaces) == name
            } else if isInside, !line.hasPrefix("#"), !line.hasPrefix(";"),
                let equals = line.firstIndex(of: "=")
            {
                let value = line[line.index(after: equals)...].trimmingCharacters(in: .whitespaces)
                let key = line[..<equals].trimmingCharacters(in: .whitespaces).lowercased()
                if !value.isEmpty { values[key] = value }
            }
        }
        return values
    }
}
