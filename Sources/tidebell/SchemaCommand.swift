// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellCore
import TidebellScheduling
import TidebellServer
import TidebellWire

/// `tidebell schema`; the verbs of CloudKit's `cktool` are other names of the subcommands.
struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Deploy a container's schema to production, export, import and compare it.",
        discussion: """
            In development, record types, fields and indexes come into being by use. Production has \
            what was deployed to it, and refuses the rest:

               tidebell schema check iCloud.org.example.notes
               tidebell schema deploy iCloud.org.example.notes

            Files are in the CloudKit Schema Language, as Xcode's cktool exports and imports it \
            (export-schema, import-schema, validate-schema and reset-schema are understood too).
            """,
        subcommands: [
            Check.self, Diff.self, Deploy.self, History.self, Export.self, Import.self,
            Validate.self,
            Index.self, Role.self, Reset.self,
        ]
    )

    /// `tidebell schema export`.
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a schema as a .ckdb file.", aliases: ["export-schema"])

        @OptionGroup var target: SchemaTarget
        @Option(help: "The environment.") var environment = CloudEnvironment.development
        @Option(help: "The file to write (default: standard output).") var outputFile: String?

        func run() async throws {
            let text = try await target.run { try await $0.export(target.key(environment)) }
            guard let outputFile else { return printLine(String(text.dropLast())) }
            do {
                try Data(text.utf8).write(to: URL(fileURLWithPath: outputFile))
            } catch {
                throw OperatorError(
                    "The file '\(outputFile)' cannot be written: \(error.localizedDescription)")
            }
        }
    }

    /// `tidebell schema import`.
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give development the schema of a .ckdb file.",
            discussion: """
                The file is the whole schema: what it lacks goes, unless production has it, which \
                refuses the file. Records keep their values.
                """,
            aliases: ["import-schema"])

        @OptionGroup var target: SchemaTarget
        @OptionGroup var file: SchemaFile

        func run() async throws {
            let text = try file.text()
            let outcome = try await target.run {
                try await $0.import(text, into: target.container)
            }
            printDone(
                SchemaReport.changes(
                    outcome.changes,
                    "Imported into \(target.container) (development):",
                    orNone: "\(target.container) (development) has this schema already.",
                    warnings: outcome.warnings))
        }
    }

    /// `tidebell schema validate`.
    struct Validate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print what an import would change, or why it would be refused.",
            aliases: ["validate-schema"])

        @OptionGroup var target: SchemaTarget
        @OptionGroup var file: SchemaFile

        func run() async throws {
            let text = try file.text()
            let outcome = try await target.run {
                try await $0.validate(text, for: target.container)
            }
            printLine(
                SchemaReport.changes(
                    outcome.changes,
                    "The file is valid; an import would change:",
                    orNone: "The file is valid, and what \(target.container) (development) has.",
                    warnings: outcome.warnings))
        }
    }

    /// `tidebell schema index`.
    struct Index: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add indexes to a field in development.",
            discussion: """
                QUERYABLE for equality, SORTABLE for order and what comes before or after, SEARCHABLE \
                for words. ___recordID stands for recordName. Deploy it to have it in production.
                """)

        @OptionGroup var target: SchemaTarget
        @Argument(help: "The field, such as Note.title.") var field: String
        @Argument(help: "QUERYABLE, SORTABLE, SEARCHABLE: one or more.") var indexes: [String]

        func run() async throws {
            let parts = field.split(separator: ".", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
                throw OperatorError("A field is written with its type, such as Note.title.")
            }
            let wanted = try FieldIndexes(words: indexes)
            let added = try await target.run {
                try await $0.index(parts[1], of: parts[0], in: target.container, by: wanted)
            }
            printDone(
                (added?.line ?? "\(field) has this already.")
                    + "\nFor production: \(target.deployment)")
        }
    }

    /// `tidebell schema diff`.
    struct Diff: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print what a deployment would change in production.",
            discussion: """
                + comes, - goes (an index or a grant), ! is refused, or warns of subscriptions that do not \
                fire and of fields that could not be saved, = is production's alone and stays. Ends with status 1 where a deployment would be refused.
                """)

        @OptionGroup var target: SchemaTarget

        func run() async throws {
            let plan = try await target.run { try await $0.diff(target.container) }
            printLine(SchemaReport.plan(plan, target.container))
            if !plan.refused.isEmpty { throw ExitCode.failure }
        }
    }

    /// `tidebell schema check`.
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print what apps used in development that production lacks.",
            discussion: """
                Types and fields they saved, and the indexes that their queries and subscriptions \
                need, which are quoted. Ends with status 1 where something is missing. A server notes \
                queries within a minute.
                """)

        @OptionGroup var target: SchemaTarget
        @Option(
            help: ArgumentHelp(
                "A .ckdb file to hold it against (default: production).", valueName: "file"))
        var file: String?

        func run() async throws {
            let text = try file.map { try SchemaFile.text(at: $0) }
            let missing = try await target.run {
                try await $0.check(target.container, against: text)
            }
            let schema =
                file.map { "The schema in '\($0)'" } ?? "Production of \(target.container)"
            guard !missing.isEmpty else {
                return printLine("\(schema) has all that development used.")
            }
            printLine(
                (["\(schema) lacks what development used:"]
                    + missing.map { "  " + $0.description })
                    .joined(separator: "\n"))
            if file == nil {
                printLine("Deploy it: \(target.deployment)")
            }
            throw ExitCode.failure
        }
    }

    /// `tidebell schema deploy`.
    struct Deploy: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give production what development's schema has.",
            discussion: """
                Record types and fields are only added; records are not copied. A running server \
                goes by it at once.
                """)

        @OptionGroup var target: SchemaTarget

        func run() async throws {
            let outcome = try await target.run {
                try await $0.deploy(
                    target.container, by: NSUserName(), at: Time.system.now())
            }
            printDone(
                SchemaReport.changes(
                    outcome.plan.changes,
                    "Deployed to \(target.container) (production)"
                        + (outcome.deployment.map { ", number \($0.number)" } ?? "") + ":",
                    orNone: "\(target.container) (production) has all of it already.",
                    warnings: outcome.plan.warnings))
        }
    }

    /// `tidebell schema role`.
    struct Role: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print who has a role, give it to a user or take it away.",
            discussion: """
                A schema's file creates roles and grants them rights in the public database: CREATE ROLE \
                Editor; and GRANT WRITE TO Editor.
                """)

        @OptionGroup var target: SchemaTarget
        @Argument(help: "The role.") var role: String
        @Option(help: "The environment.") var environment = CloudEnvironment.development
        @Option(help: "Give it to this user.") var add: String?
        @Option(help: "Take it from this user.") var remove: String?

        func run() async throws {
            let key = target.key(environment)
            try await target.run { schemas in
                if let add {
                    try await schemas.setRole(role, of: add, in: key, isGiven: true)
                    printDone("\(add) has the role \(role).")
                }
                if let remove {
                    try await schemas.setRole(role, of: remove, in: key, isGiven: false)
                    printDone("\(remove) has the role \(role) no more.")
                }
                guard add == nil, remove == nil else { return }
                let members = try await schemas.members(of: role, in: key)
                printLine(
                    members.isEmpty ? "Nobody has the role." : members.joined(separator: "\n"))
            }
        }
    }

    /// `tidebell schema history`.
    struct History: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print who deployed what to production, and when.")

        @OptionGroup var target: SchemaTarget

        func run() async throws {
            let deployments = try await target.run {
                try await $0.deployments(of: target.container)
            }
            guard !deployments.isEmpty else {
                return printError("There are none; deploy: \(target.deployment)")
            }
            for deployment in deployments {
                printLine(SchemaReport.deployment(deployment))
            }
        }
    }

    /// `tidebell schema reset`.
    struct Reset: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give development the schema of production, and remove its data.",
            discussion: """
                All records and zones of all users in development are removed, and devices fetch \
                afresh. Users, devices and subscriptions stay; production is not touched. Works while \
                a server runs. If the command is interrupted, run it again.
                """,
            aliases: ["reset-schema"])

        @OptionGroup var target: SchemaTarget
        @Flag(help: "Do not ask first.") var force = false

        func run() async throws {
            try confirm()
            let outcome = try await target.run {
                try await $0.reset(target.container, at: Time.system.now())
            }
            let heading =
                "Reset \(target.container) (development): removed "
                + "\(counted(outcome.records, "record")) and "
                + "\(counted(outcome.zones, "zone"))"
            printDone(
                SchemaReport.changes(
                    outcome.changes, heading + ".\nIts schema:",
                    orNone: heading + "; it has production's schema already.",
                    warnings: outcome.warnings))
        }

        /// Asks at the terminal for the container's name; fails where there is none to ask at.
        private func confirm() throws {
            guard !force else { return }
            guard isatty(STDIN_FILENO) == 1 else {
                throw OperatorError(
                    "This removes all data of \(target.container) (development). There is no "
                        + "terminal to ask at; add --force to do it.")
            }
            announce(
                "This removes all records and zones of \(target.container) (development). Enter the "
                    + "container's name to do it:")
            guard readLine() == target.container else {
                throw OperatorError("This is not its name; nothing was removed.")
            }
        }
    }
}

/// Which container's schema, of which cloud.
struct SchemaTarget: ParsableArguments {
    @Argument(help: "The container, such as iCloud.org.example.notes.") var container: String
    @OptionGroup var data: DataOption

    /// Runs `body` on the schemas of the cloud, also while a server runs on it.
    func run<Result: Sendable>(_ body: (Schemas) async throws -> Result) async throws -> Result {
        try await data.withExistingStore { try await body(Schemas(store: $0)) }
    }

    /// The container's schema in an environment.
    func key(_ environment: CloudEnvironment) -> ContainerKey {
        ContainerKey(container: container, environment: environment)
    }

    /// How to deploy it.
    var deployment: String { "tidebell schema deploy \(container)\(data.hint)" }
}

/// The file of a schema.
struct SchemaFile: ParsableArguments {
    @Option(
        name: .customLong("file"),
        help: ArgumentHelp("The .ckdb file; - reads it from standard input.", valueName: "file"))
    var path: String

    /// Returns what it has.
    func text() throws -> String { try Self.text(at: path) }

    /// Returns what a file has, no more of it than a schema may have and a byte, which is too much.
    static func text(at path: String) throws -> String {
        let handle: FileHandle? =
            path == "-" ? .standardInput : FileHandle(forReadingAtPath: path)
        guard let handle, let bytes = try? handle.read(upToCount: SchemaParser.mostBytes + 1)
        else { throw OperatorError("The file '\(path)' cannot be read.") }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// What schema commands print.
enum SchemaReport {
    /// A heading with the changes below, or a sentence where there are none; then warnings.
    static func changes(
        _ changes: [SchemaChange], _ heading: String, orNone none: String,
        warnings: [String] = []
    ) -> String {
        let lines = changes.isEmpty ? [none] : [heading] + changes.map { "  " + $0.line }
        return (lines + warnings.map { "  ! " + $0 }).joined(separator: "\n")
    }

    /// What a deployment would do.
    static func plan(_ plan: SchemaDeploymentPlan, _ container: String) -> String {
        let lines =
            plan.changes.map(\.line) + plan.refused.map { "! refused: \($0.refusal)" }
            + plan.kept.map { "=" + $0.line.dropFirst() }
            + plan.warnings.map { "! " + $0 }
        guard !lines.isEmpty else {
            return "Development and production of \(container) have the same schema."
        }
        return lines.joined(separator: "\n")
    }

    /// A deployment and its changes.
    static func deployment(_ deployment: SchemaDeployment) -> String {
        let heading =
            "\(deployment.number)  \(UseText.text(Instant(rawValue: deployment.deployedAt)))  \(deployment.author)"
        return ([heading] + deployment.changes.map { "     " + $0 }).joined(separator: "\n")
    }
}
