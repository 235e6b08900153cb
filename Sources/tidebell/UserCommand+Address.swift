// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellCore
import TidebellServer

extension UserCommand {
    /// `tidebell user address`.
    struct Address: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give users e-mail addresses and phone numbers, by which others invite them.",
            discussion: """
                Whoever shares something with a verified address shares it with its user. Apps find \
                a user by it only where the user permits that (`tidebell permission`).
                """,
            subcommands: [Add.self, List.self, Remove.self]
        )

        /// `tidebell user address add`.
        struct Add: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Give a user an address, or verify one that they have."
            )

            @Argument(help: "The user's name.") var name: String
            @Argument(help: "An e-mail address, or a phone number with its country code.")
            var address: String

            @Flag(help: "Keep it, but find nobody by it: you do not know that it is theirs.")
            var unverified = false

            @OptionGroup var data: DataOption

            func run() async throws {
                let added = try await data.withAccounts {
                    try await $0.addAddress(address, of: name, isVerified: !unverified)
                }
                printDone(
                    "The user '\(name)' has the address \(added.addressText ?? address)"
                        + (unverified ? ", which is not verified: nobody is found by it." : ".")
                )
            }
        }

        /// `tidebell user address list`.
        struct List: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Print the addresses of a user."
            )

            @Argument(help: "The user's name.") var name: String
            @OptionGroup var data: DataOption

            func run() async throws {
                let addresses = try await data.withAccounts { try await $0.addresses(of: name) }
                guard !addresses.isEmpty else {
                    return printError(
                        "The user '\(name)' has no address; add one: tidebell user address add "
                            + "\(name) ADDRESS\(data.hint)")
                }
                for address in addresses {
                    let text = address.address.addressText ?? ""
                    printLine(address.isVerified ? text : "\(text)  not verified")
                }
            }
        }

        /// `tidebell user address remove`.
        struct Remove: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Take an address away from a user; what is shared with them stays."
            )

            @Argument(help: "The user's name.") var name: String
            @Argument(help: "The address.") var address: String
            @OptionGroup var data: DataOption

            func run() async throws {
                let removed = try await data.withAccounts {
                    try await $0.removeAddress(address, of: name)
                }
                printDone(
                    "The user '\(name)' no longer has the address "
                        + "\(removed.addressText ?? address).")
            }
        }
    }
}
