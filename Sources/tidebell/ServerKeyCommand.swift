// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellCore
import TidebellServer
import TidebellWire

/// `tidebell server-key`.
struct ServerKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "server-key",
        abstract: "Add, list and revoke server-to-server keys, with which programs sign requests.",
        discussion: """
            A key gives access to the public database of one container and environment, as a user of its \
            own. Make a key pair as for Apple's CloudKit, and keep the first file secret:

               openssl ecparam -name prime256v1 -genkey -noout -out eckey.pem
               openssl ec -in eckey.pem -pubout -out public.pem
            """,
        subcommands: [Add.self, List.self, Revoke.self]
    )

    /// `tidebell server-key add`.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a public key and print its key ID, which requests must contain."
        )

        @Argument(help: "The container, such as iCloud.org.example.notes.") var container: String
        @Argument(help: "The file of the public key in PEM; - reads it from standard input.")
        var file: String

        @Option(help: "The environment of the container.")
        var environment = CloudEnvironment.development

        @Option(help: "What the key is for, as a note for yourself.")
        var name = "unnamed"

        @OptionGroup var validity: OptionalValidity
        @OptionGroup var data: DataOption

        func run() async throws {
            let pem = try Self.text(of: file)
            let container = ContainerKey(container: container, environment: environment)
            let key = try await data.withAccounts {
                try await $0.addServerKey(
                    pem, named: name, for: container, lifetime: validity.duration)
            }
            printLine(
                """
                Added a server-to-server key for \(container.container) \
                (\(container.environment.rawValue)). Its key ID:

                   \(key.id)
                """,
                orElse: "The key was added; see: tidebell server-key list\(data.hint)"
            )
        }

        /// Returns the beginning of a file, which is enough to see what it is.
        private static func text(of file: String) throws -> String {
            let handle: FileHandle? =
                file == "-" ? .standardInput : FileHandle(forReadingAtPath: file)
            guard let handle,
                let bytes = try? handle.read(upToCount: ServerKeyRule.mostPEMBytes + 1)
            else { throw OperatorError("The file '\(file)' cannot be read.") }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// `tidebell server-key list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print all server-to-server keys with their IDs."
        )

        @OptionGroup var data: DataOption

        func run() async throws {
            let keys = try await data.withAccounts { try await $0.serverKeys() }
            guard !keys.isEmpty else {
                return printError(
                    "There are no keys; add one: tidebell server-key add CONTAINER FILE"
                        + data.hint)
            }
            for item in keys {
                printLine(
                    "\(item.key.id)  \(item.key.name)  \(TokenScopeText(item.key.container))  "
                        + UseText(item.key.createdAt, item.usedAt, item.expiresAt).description
                )
            }
        }
    }

    /// `tidebell server-key revoke`.
    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a server-to-server key: a running server refuses it at once.",
            discussion: "Its records stay; its subscriptions and push tokens are removed."
        )

        @Argument(help: "The key's ID, or its beginning.") var id: String
        @OptionGroup var data: DataOption

        func run() async throws {
            let key = try await data.withAccounts { try await $0.revokeServerKey(id) }
            printDone("Revoked the key \(key.id) '\(key.name)'.")
        }
    }
}
