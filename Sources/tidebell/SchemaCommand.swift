// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellCore
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

        @OptionGroup var container: SchemaContainer
        @Option(help: "The environment.") var environment = CloudEnvironment.development
        @Option(help: "The file to write (default: standard output).") var outputFile: String?
        @OptionGroup var data: DataOption

        func run() async throws {
            let key = ContainerKey(container: container.name, environment: environment)
            let text = try await data.withSchemas { try await $0.export(key) }
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

        @OptionGroup var container: SchemaContainer
        @OptionGroup var file: SchemaFile
        @OptionGroup var data: DataOption

        func run() async throws {
            let text = try file.text()
            let changes = try await data.withSchemas {
                try await $0.import(text, into: container.name)
            }
            printDone(
                SchemaReport.changes(
                    changes, "Imported into \(container.name) (development):",
                    orNone: "\(container.name) (development) has this schema already."))
        }
    }

    /// `tidebell schema validate`.
    struct Validate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print what an import would change, or why it would be refused.",
            aliases: ["validate-schema"])

        @OptionGroup var container: SchemaContainer
        @OptionGroup var file: SchemaFile
        @OptionGroup var data: DataOption

        func run() async throws {
            let text = try file.text()
            let changes = try await data.withSchemas {
                try await $0.validate(text, for: container.name)
            }
            printLine(
                SchemaReport.changes(
                    changes, "The file is valid; an import would change:",
                    orNone: "The file is valid, and what \(container.name) (development) has."))
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

        @OptionGroup var container: SchemaContainer
        @Argument(help: "The field, such as Note.title.") var field: String
        @Argument(help: "QUERYABLE, SORTABLE, SEARCHABLE: one or more.") var indexes: [String]
        @OptionGroup var data: DataOption

        func run() async throws {
            let parts = field.split(separator: ".", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
                throw OperatorError("A field is written with its type, such as Note.title.")
            }
            let wanted = try FieldIndexes(words: indexes)
            let added = try await data.withSchemas {
                try await $0.index(parts[1], of: parts[0], in: container.name, by: wanted)
            }
            printDone(
                (added?.line ?? "\(field) has this already.")
                    + "\nFor production: tidebell schema deploy \(container.name)\(data.hint)")
        }
    }

    /// `tidebell schema diff`.
    struct Diff: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print what a deployment would change in production.",
            discussion: """
                + comes, - goes (an index or a grant), ! is refused, = is production's alone and \
                stays. Ends with status 1 where a deployment would be refused.
                """)

        @OptionGroup var container: SchemaContainer
        @OptionGroup var data: DataOption

        func run() async throws {
            let plan = try await data.withSchemas { try await $0.diff(container.name) }
            printLine(SchemaReport.plan(plan, container.name))
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

        @OptionGroup var container: SchemaContainer
        @Option(
            help: ArgumentHelp(
                "A .ckdb file to hold it against (default: production).", valueName: "file"))
        var file: String?
        @OptionGroup var data: DataOption

        func run() async throws {
            let text = try file.map { try SchemaFile.text(at: $0) }
            let missing = try await data.withSchemas {
                try await $0.check(container.name, against: text)
            }
            let target = file.map { "The schema in '\($0)'" } ?? "Production of \(container.name)"
            guard !missing.isEmpty else {
                return printLine("\(target) has all that development used.")
            }
            printLine(
                (["\(target) lacks what development used:"]
                    + missing.map { "  " + $0.description })
                    .joined(separator: "\n"))
            if file == nil {
                printLine("Deploy it: tidebell schema deploy \(container.name)\(data.hint)")
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

        @OptionGroup var container: SchemaContainer
        @OptionGroup var data: DataOption

        func run() async throws {
            let outcome = try await data.withSchemas {
                try await $0.deploy(container.name, by: NSUserName())
            }
            printDone(
                SchemaReport.changes(
                    outcome.plan.changes,
                    "Deployed to \(container.name) (production)"
                        + (outcome.deployment.map { ", number \($0.number)" } ?? "") + ":",
                    orNone: "\(container.name) (production) has all of it already."))
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

        @OptionGroup var container: SchemaContainer
        @Argument(help: "The role.") var role: String
        @Option(help: "The environment.") var environment = CloudEnvironment.development
        @Option(help: "Give it to this user.") var add: String?
        @Option(help: "Take it from this user.") var remove: String?
        @OptionGroup var data: DataOption

        func run() async throws {
            let key = ContainerKey(container: container.name, environment: environment)
            try await data.withSchemas { schemas in
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

        @OptionGroup var container: SchemaContainer
        @OptionGroup var data: DataOption

        func run() async throws {
            let deployments = try await data.withSchemas {
                try await $0.deployments(of: container.name)
            }
            guard !deployments.isEmpty else {
                return printError(
                    "There are none; deploy: tidebell schema deploy \(container.name)\(data.hint)")
            }
            for deployment in deployments {
                printLine(SchemaReport.deployment(deployment))
            }
        }
    }

    /// `tidebell schema reset`.
    struct Reset: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give development the schema that production has.",
            discussion: "Records keep their values; types and fields come back by use.",
            aliases: ["reset-schema"])

        @OptionGroup var container: SchemaContainer
        @OptionGroup var data: DataOption

        func run() async throws {
            let changes = try await data.withSchemas { try await $0.reset(container.name) }
            printDone(
                SchemaReport.changes(
                    changes, "Reset \(container.name) (development):",
                    orNone: "\(container.name) (development) has production's schema already."))
        }
    }
}

/// Which container's schema.
struct SchemaContainer: ParsableArguments {
    @Argument(help: "The container, such as iCloud.org.example.notes.") var name: String
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
    /// A heading with the changes below, or a sentence where there are none.
    static func changes(
        _ changes: [SchemaChange], _ heading: String, orNone none: String
    ) -> String {
        changes.isEmpty
            ? none : ([heading] + changes.map { "  " + $0.line }).joined(separator: "\n")
    }

    /// What a deployment would do.
    static func plan(_ plan: SchemaDeploymentPlan, _ container: String) -> String {
        let lines =
            plan.changes.map(\.line) + plan.refused.map { "! refused: \($0.refusal)" }
            + plan.kept.map { "=" + $0.line.dropFirst() }
        guard !lines.isEmpty else {
            return "Development and production of \(container) have the same schema."
        }
        return lines.joined(separator: "\n")
    }

    /// A deployment and its changes.
    static func deployment(_ deployment: SchemaDeployment) -> String {
        let heading =
            "\(deployment.number)  \(UseText.text(deployment.deployedAt))  \(deployment.author)"
        return ([heading] + deployment.changes.map { "     " + $0 }).joined(separator: "\n")
    }
}
