// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Logging
import TidebellCore
import TidebellHTTP
import TidebellPostgres
import TidebellServer
import TidebellWire
import TidebellPush

/// `tidebell serve`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the server until SIGTERM or SIGINT (Control-C)."
    )

    @Option(help: "The port; with 0 the system chooses one.")
    var port = ServerConfiguration.defaultPort

    @Option(help: "The address to listen on; 0.0.0.0 means all addresses of this machine.")
    var host = "127.0.0.1"

    @OptionGroup var data: DataOption

    @Option(
        help: ArgumentHelp(
            """
            What this server is called among the nodes: servers on one PostgreSQL database (--store) that share \
            a data folder or a bucket (--asset-store), behind a load balancer. Each has a name of its own; without one the server is alone.
            """, valueName: "name"))
    var nodeName: String?

    @Flag(
        help: ArgumentHelp(
            """
            Say that a standby of the PostgreSQL database which is promoted has every acknowledged write: replication \
            is synchronous, and writes wait while there is no standby (Patroni: synchronous_mode and \
            synchronous_mode_strict). Then the server goes on there by itself. Without this it stops when the \
            database was failed over, and devices fetch everything again after its start.
            """))
    var losslessFailover = false

    @Option(
        help: ArgumentHelp(
            """
            For so many seconds after SIGTERM /ready answers 503 while the server goes on, so that a load balancer \
            sends no more requests here; then it stops. A second signal stops it at once.
            """, valueName: "seconds"))
    var stopNotice = 0

    @Option(help: "How much to log.")
    var logLevel = Logger.Level.notice

    @Option(
        help: ArgumentHelp(
            "The URL by which clients reach the server, if it is behind a proxy.",
            valueName: "url"
        )
    )
    var publicURL: String?

    @Option(
        name: .customLong("share-app-url"),
        help: ArgumentHelp(
            """
            A container and the link that opens a share in its app, such as \
            iCloud.org.example.notes=notes://share?url={url}. The web page of a share has this \
            link. May be given several times.
            """,
            valueName: "container=url"
        )
    )
    var shareAppURLs: [String] = []

    @Option(
        name: .customLong("tls-certificate"),
        help: ArgumentHelp(
            """
            The server's certificate and the intermediate certificates, in PEM; with it the server uses https. \
            The file is read again when it changes.
            """, valueName: "file"),
        completion: .file()
    )
    var certificate: String?

    @Option(
        name: .customLong("tls-key"),
        help: ArgumentHelp("The private key of the certificate, in PEM.", valueName: "file"),
        completion: .file()
    )
    var key: String?

    @Option(
        help: ArgumentHelp(
            """
            For so many days a browser that came by https comes by nothing else to this host (HSTS); 0 takes \
            that back (default: nothing is said).
            """, valueName: "days"))
    var strictTransportDays: Int?

    @Flag(
        help: "Let anyone who opens the sign-in page make an account, with a name and a password.")
    var allowSignUp = false

    @Flag(
        help: """
            For tests, on this machine only: programs with a management token can move the server's \
            clock (/admin/1/clock) and make requests fail (/admin/1/faults).
            """
    )
    var testControls = false

    @Option(
        help: ArgumentHelp(
            "The configuration file (default: tidebell.json in the data folder, if any).",
            valueName: "file"
        ),
        completion: .file()
    )
    var config: String?

    @Option(
        help: """
            What is removed first from a payload over 4096 bytes: as documented in Apple's header, \
            or the values of desired keys.
            """
    )
    var pruning = PruningOrder.header

    @Option(
        help: ArgumentHelp(
            """
            How long changes are kept for `tidebell push explain`, at most 720 hours; with 0 \
            nothing is kept (default: 24).
            """,
            valueName: "hours"
        )
    )
    var explanationHours: Int?

    @Option(
        help: """
            Whether a subscription that duplicates another one of the user is refused: standard \
            refuses it except for database subscriptions, lenient never, strict always.
            """
    )
    var duplicateSubscriptions = DuplicatePolicy.standard

    @Option(
        help: """
            The error when a new record is saved whose ID exists already: serverRecordChanged, \
            or serverRejectedRequest.
            """
    )
    var existingRecords = ExistingRecordPolicy.standard

    @Option(
        help: """
            Whether to refuse what Apple's servers refuse although it works here. With lenient it is \
            accepted, with a note in the log and in 'push explain'.
            """
    )
    var strictness = Strictness.lenient

    @OptionGroup var limits: LimitOptions

    @OptionGroup(title: "Files of records in a bucket") var assetStore: AssetStoreOptions

    @OptionGroup(title: "Encryption") var rootKey: RootKeyOptions

    @OptionGroup(title: "Limits of one caller") var shares: ShareOptions

    @OptionGroup(title: "Sign-in by an identity provider") var openID: OpenIDOptions

    @OptionGroup(title: "Quotas") var quotas: QuotaOptions

    @OptionGroup(title: "Pace of pushes") var pace: PushPaceOptions

    @OptionGroup(title: "Apple's push service") var apns: APNsOptions

    func validate() throws {
        guard (0...65535).contains(port) else {
            throw ValidationError("The port must be 0 to 65535, not \(port).")
        }
        do {
            _ = try settings()
            if try assetStore.bucket() != nil, !data.hasDatabase {
                throw OperatorError(
                    "--asset-store is for a cloud whose records are in PostgreSQL, because 'tidebell backup' copies a data "
                        + "folder and would lack the files: it needs --store.")
            }
        } catch let error as OperatorError {
            throw ValidationError(error.description)
        }
        guard Self.stopNotices.contains(stopNotice) else {
            throw ValidationError(
                "--stop-notice must be 0 to \(Self.stopNotices.upperBound) seconds.")
        }
        _ = try shareApps()
        guard !losslessFailover || data.hasDatabase else {
            throw ValidationError(
                "--lossless-failover is about a database that has standbys: it needs --store.")
        }
        if let nodeName {
            guard NodeName(nodeName) != nil else {
                throw ValidationError(
                    "--node-name must have 1 to \(NodeName.mostCharacters) letters, digits, '-', '.' or "
                        + "'_', not '\(nodeName)'.")
            }
            guard data.hasDatabase else {
                throw ValidationError(
                    "--node-name is for servers that share a database: it needs --store.")
            }
            guard !rootKey.acceptLostKeys else {
                throw ValidationError(
                    "--accept-lost-keys is for a server that is alone: stop all nodes, and start one without "
                        + "--node-name.")
            }
        }
        guard (certificate == nil) == (key == nil) else {
            throw ValidationError("--tls-certificate and --tls-key must be used together.")
        }
        guard strictTransportDays.map(Self.strictTransportDays.contains) ?? true else {
            throw ValidationError(
                "--strict-transport-days must be 0 to \(Self.strictTransportDays.upperBound).")
        }
        guard strictTransportDays == nil || certificate != nil || !shares.trustedProxies.isEmpty
        else {
            throw ValidationError(
                "--strict-transport-days is for a server that clients reach by https: give "
                    + "--tls-certificate, or --trusted-proxy of the proxy that has the certificate."
            )
        }
        guard !testControls || (Self.ownHosts.contains(host) && publicURL == nil) else {
            throw ValidationError(
                "--test-controls is for a server that only this machine can reach: it cannot be used "
                    + "with --host or --public-url.")
        }
        if let publicURL, !publicURL.hasPrefix("http://"), !publicURL.hasPrefix("https://") {
            throw ValidationError("The public URL must begin with http:// or https://.")
        }
    }

    /// Five minutes: whoever stops services waits no longer.
    private static let stopNotices = 0...300

    /// Two years are what lists of browsers ask for at most.
    private static let strictTransportDays = 0...730

    /// Addresses that other machines do not reach.
    private static let ownHosts = ["127.0.0.1", "::1", "localhost"]

    /// Where the apps are that shares are opened in.
    private func shareApps() throws -> ShareAppLinks {
        var links = ShareAppLinks()
        for text in shareAppURLs {
            let parts = text.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else {
                throw ValidationError("--share-app-url must be CONTAINER=URL, not '\(text)'.")
            }
            do {
                try links.set(String(parts[1]), for: String(parts[0]))
            } catch let error as WrongShareAppLink {
                throw ValidationError("--share-app-url: \(error).")
            }
        }
        return links
    }

    /// What the options set of the limits.
    private func settings() throws -> LimitSettings {
        var settings = LimitSettings()
        try shares.apply(to: &settings)
        try quotas.apply(to: &settings)
        if let explanationHours {
            try settings.set(
                "explanationRetention", to: "\(explanationHours)h", by: "--explanation-hours")
        }
        try limits.apply(to: &settings)
        return settings
    }

    func run() async throws {
        // A reader of the output, or a client, may go away at any time.
        signal(SIGPIPE, SIG_IGN)
        // However the process ends. An output that nobody reads does not keep it.
        atexit { QueuedOutput.flush(.standardOutput, .standardError) }
        OpenFiles.raiseLimit()
        // A limit of file sizes fails the write that meets it, instead of ending the server.
        signal(SIGXFSZ, SIG_IGN)
        var configuration = ServerConfiguration(dataFolder: data.folder)
        configuration.stores =
            data.dataFolder(
                servedBy: nodeName.flatMap { NodeName($0) }, losslessFailover: losslessFailover
            ).stores
        configuration.assets = try assetStore.place()
        configuration.nodeName = nodeName
        configuration.stopNotice = .seconds(stopNotice)
        configuration.host = host
        configuration.port = port
        configuration.logLevel = logLevel
        configuration.publicURL = publicURL.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        configuration.shareApps = try shareApps()
        configuration.allowsSignUp = allowSignUp
        configuration.strictTransport = strictTransportDays.map { .seconds($0 * 24 * 3600) }
        configuration.hasTestControls = testControls
        configuration.provider = try openID.configuration()
        if let certificate, let key {
            configuration.tls = (URL(fileURLWithPath: certificate), URL(fileURLWithPath: key))
        }
        let metrics = PrometheusMetrics.bootstrap()
        configuration.metricsText = { metrics.text }
        configuration.push.pruning = pruning
        configuration.limits.duplicateSubscriptions = duplicateSubscriptions
        configuration.limits.existingRecords = existingRecords
        configuration.limits.strictness = strictness
        try settings().apply(to: &configuration)
        configuration.rootKey = rootKey.location.source
        configuration.acceptsLostKeys = rootKey.acceptLostKeys
        try shares.apply(to: &configuration.shares)
        pace.apply(to: &configuration.push)
        try configuration.readFile(config.map { URL(fileURLWithPath: $0) })
        apns.apply(to: &configuration.apns)
        let made = data.missingParents
        let server = try await TidebellServer(configuration)
        warn(server)
        if !made.isEmpty {
            report(
                "Made for the data folder, because it did not exist: \(made.joined(separator: ", ")). "
                    + "If --data is mistyped, stop the server and remove it.")
        }
        try await server.run { address in
            do {
                let url = server.configuration.publicURL ?? address.clientURL
                let listening =
                    "Tidebell is listening on "
                    + address.description(publicURL: server.configuration.publicURL)
                    + ". Its data is in \(data.place)."
                    + ProxyNotice.sentence(trusting: server.configuration.shares.trustedProxies)
                if let firstRun = try await server.cloud.accounts.prepareFirstRun() {
                    try welcome(listening, url, firstRun)
                } else if try await server.cloud.accounts.tokens(.api).isEmpty {
                    report(
                        "\(listening) It has no API token yet, which every program needs: "
                            + "tidebell api-token create\(data.hint)"
                    )
                } else {
                    report("\(listening) To make a token: tidebell user token NAME\(data.hint)")
                }
            } catch {
                reportError("The first user and API token could not be created: \(error)")
            }
        }
        report("Tidebell has stopped.")
    }

    /// Prints a text, which nobody need read.
    private func report(_ text: String) { QueuedOutput.standardOutput.write(text + "\n") }

    /// Prints a sentence about something that is wrong, likewise.
    private func reportError(_ text: String) { QueuedOutput.standardError.write(text + "\n") }

    /// Prints what the operator should know or do about the way the server runs.
    private func warn(_ server: TidebellServer) {
        let configuration = server.configuration
        let folder = data.dataFolder
        for warning in folder.permissionWarnings(rootKey: configuration.rootKey) {
            reportError(warning)
        }
        if let warning = folder.orphanedRootKeyWarning(rootKey: configuration.rootKey) {
            reportError(warning)
        }
        if !server.givenUp.isEmpty {
            reportError("Permanently deleted, because their keys are lost: \(server.givenUp).")
        }
        if configuration.hasTestControls {
            reportError(
                "This server is for tests (--test-controls): its clock can be moved, and records that "
                    + "are saved then keep dates in the future. Use a data folder only for tests.")
        }
        if case .bucket(let bucket, _) = configuration.assets,
            let warning = PlainText.warning(reaching: bucket)
        {
            reportError(warning)
        }
        if configuration.tls == nil,
            let warning = PlainText.warning(
                servingAt: configuration.host, publicURL: configuration.publicURL
            )
        {
            reportError(warning)
        }
        if let warning = ProxyNotice.warning(
            publicURL: configuration.publicURL, trusting: configuration.shares.trustedProxies
        ) {
            reportError(warning)
        }
    }

    /// Where the first run's tokens are written when nobody sees them printed.
    private static let firstRunFile = "first-run.txt"

    /// Shows the tokens to the person at the terminal; what is no terminal may be a log that
    /// others read.
    private func welcome(_ listening: String, _ url: String, _ firstRun: FirstRun) throws {
        guard isatty(STDOUT_FILENO) == 0 else {
            return report(
                welcomeText(listening, url, firstRun, keeping: "The tokens are shown only now.")
            )
        }
        let text = welcomeText(
            listening, url, firstRun,
            keeping: "The tokens are in this file only: copy them, then remove the file."
        )
        let path = try data.dataFolder.write(text, named: Self.firstRunFile)
        report(
            "\(listening) This is its first run: an API token and the user '\(firstRun.userName)' were made. The tokens are in "
                + "\(path), which only you can read; copy them, then remove the file."
        )
    }

    private func welcomeText(
        _ listening: String, _ url: String, _ firstRun: FirstRun, keeping: String
    ) -> String {
        let list = ListZones.route.path.text(
            in: "iCloud.org.example.notes", "development", .private)
        return """
            \(listening)

            This is its first run: an API token and the user '\(firstRun.userName)' were made. \
            \(keeping) The web token is valid in all containers: \
            it is for your own use; apps get their own when they sign in.

            1. Set the server and the API token, for programs that use the CloudKit module:

               export TIDEBELL_SERVER=\(url)
               export TIDEBELL_API_TOKEN=\(firstRun.apiToken)

            2. Sign in '\(firstRun.userName)' on this machine. The command asks for the web token below:

               tidebell login --container iCloud.org.example.notes --token-file -

               Or set the web token as a variable, as in CI:

               export TIDEBELL_WEB_AUTH_TOKEN=\(firstRun.webToken)

            3. Send a first request:

               curl "$TIDEBELL_SERVER\(list)?ckAPIToken=$TIDEBELL_API_TOKEN\
            &ckWebAuthToken=$TIDEBELL_WEB_AUTH_TOKEN"

            Make more users and tokens, also while the server runs:

               tidebell user add NAME\(data.hint)
               tidebell user password NAME\(data.hint)
               tidebell user token NAME\(data.hint)
               tidebell api-token create\(data.hint)

            """
    }
}
