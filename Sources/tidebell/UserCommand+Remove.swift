// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellCore
import TidebellServer

extension UserCommand {
    /// What becomes of the records that somebody made in public databases.
    enum PublicRecords: String, ExpressibleByArgument, CaseIterable {
        case keep, erase

        /// The choice as the server knows it.
        var erasure: RemovedAccount.Erasure {
            switch self {
            case .keep: .personal
            case .erase: .everything
            }
        }
    }

    /// `tidebell user remove`.
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a user; their tokens are refused from then on.",
            discussion: """
                Subscriptions and devices are removed at once. The data is kept until you erase it, now \
                with --erase-data or later with `tidebell user erase`. A new user with the same name \
                does not see it.

                Whom an identity provider knows comes back as a new user at the next sign-in there; \
                `tidebell user disable` keeps them out.
                """
        )

        @Argument(help: "The user's name.") var name: String

        @Flag(help: "Also erase the data that the user has stored. This cannot be undone.")
        var eraseData = false

        @OptionGroup var erasure: ErasureOptions
        @OptionGroup var data: DataOption

        func validate() throws {
            guard eraseData || erasure.publicRecords == .keep else {
                throw ValidationError("--public-records can be used with --erase-data only.")
            }
        }

        func run() async throws {
            let wanted = eraseData ? erasure.publicRecords.erasure : .none
            let (account, hasData) = try await data.withAccounts {
                let account = try await $0.remove(named: name, erasing: wanted)
                return (account, try await $0.hasData(of: account))
            }
            let removed =
                "Removed the user '\(name)'. A running server accepts no writes from them any more, "
                + "and refuses their tokens within seconds."
            guard hasData else { return printDone("\(removed) They had stored nothing.") }
            guard eraseData else {
                return printDone(
                    "\(removed)\nTheir data is kept. To erase it: tidebell user erase "
                        + "\(account.rawValue)\(data.hint)"
                )
            }
            printDone("\(removed)\nTheir data is erased now, or when the server runs.")
            try await UserCommand.erase(account, data)
        }
    }

    /// `tidebell user erase`.
    struct Erase: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Erase the data of a removed user. This cannot be undone.",
            discussion: """
                Erases private databases with their zones, records and files, notifications, kept \
                answers, permissions, explanations, and the user records. Files are removed from the \
                disk a day after the last record that had them. Backups are not changed.

                If the command is interrupted, it continues when you run it again, or when a server \
                runs.
                """
        )

        @Argument(
            help: """
                The name of the user, or the first word of a line of `tidebell user list --removed`.
                """
        )
        var name: String

        @OptionGroup var erasure: ErasureOptions
        @OptionGroup var data: DataOption

        func run() async throws {
            let account = try await data.withAccounts {
                try await $0.beginErasing(name, erasure.publicRecords.erasure)
            }
            try await UserCommand.erase(account, data)
        }
    }

    /// How much goes.
    struct ErasureOptions: ParsableArguments {
        @Option(
            help: """
                Whether the records that the user created in public databases are kept, as with Apple's \
                CloudKit, or erased together with records that refer to them with DELETE_SELF.
                """
        )
        var publicRecords = PublicRecords.keep
    }

    fileprivate static func erase(_ account: AccountID, _ data: DataOption) async throws {
        let counts = try await data.withAccounts { try await $0.erase(account) }
        let parts = ErasedKind.allCases.compactMap { kind in counts[kind].map(kind.counted) }
        printDone(
            "Erased: \(parts.isEmpty ? "nothing was stored" : parts.joined(separator: ", ")).")
    }
}

extension ErasedKind {
    /// So many of the kind, in English.
    fileprivate func counted(_ count: Int) -> String {
        switch self {
        case .records: count == 1 ? "1 record" : "\(count) records"
        case .zones: count == 1 ? "1 zone" : "\(count) zones"
        case .files: count == 1 ? "1 file" : "\(count) files"
        case .subscriptions: count == 1 ? "1 subscription" : "\(count) subscriptions"
        case .devices: count == 1 ? "1 device" : "\(count) devices"
        case .notifications: count == 1 ? "1 notification" : "\(count) notifications"
        case .answers: count == 1 ? "1 kept answer" : "\(count) kept answers"
        case .permissions: count == 1 ? "1 permission" : "\(count) permissions"
        case .explanations: count == 1 ? "1 explanation" : "\(count) explanations"
        case .publicRecords: count == 1 ? "1 public record" : "\(count) public records"
        case .keptPublicRecords:
            (count == 1 ? "1 public record" : "\(count) public records") + " could not be erased"
        // A person is one user in each container they used.
        case .users: count == 1 ? "the user of 1 container" : "the users of \(count) containers"
        }
    }
}
