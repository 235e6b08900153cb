// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellCore
import TidebellServer

extension UserCommand {
    /// `tidebell user address`.
    struct Address: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Manage the email addresses and phone numbers by which users are invited.",
            discussion: """
                A share with a verified address is a share with its user. Apps can look up a user by \
                an address only if the user permits it (`tidebell permission`).
                """,
            subcommands: [Add.self, List.self, Remove.self]
        )

        /// `tidebell user address add`.
        struct Add: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Add an address to a user, or mark an address as verified."
            )

            @Argument(help: "The user's name.") var name: String
            @Argument(help: "An email address, or a phone number with its country code.")
            var address: String

            @Flag(help: "Store it as not verified: the user is not found by it.")
            var unverified = false

            @OptionGroup var data: DataOption

            func run() async throws {
                let added = try await data.withAccounts {
                    try await $0.addAddress(address, of: name, isVerified: !unverified)
                }
                printDone(
                    "The user '\(name)' has the address \(added.addressText ?? address)"
                        + (unverified ? ", which is not verified: nobody finds them by it." : ".")
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
                abstract: "Remove an address from a user; the user stays in all shares."
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
