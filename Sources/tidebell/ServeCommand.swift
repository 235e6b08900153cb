// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Logging
import TidebellCore
import TidebellHTTP
import TidebellServer
import TidebellWire
import TidebellPush

/// `tidebell serve`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the cloud until SIGTERM or SIGINT (Control-C)."
    )

    @Option(help: "The port; 0 lets the system choose.")
    var port = ServerConfiguration.defaultPort

    @Option(help: "The address to listen on; 0.0.0.0 is all of this machine's.")
    var host = "127.0.0.1"

    @OptionGroup var data: DataOption

    @Option(help: "How much to log.")
    var logLevel = Logger.Level.notice

    @Option(
        help: ArgumentHelp(
            "The URL clients reach the server under, if a proxy stands before it.",
            valueName: "url"
        )
    )
    var publicURL: String?

    @Option(
        name: .customLong("share-app-url"),
        help: ArgumentHelp(
            """
            A container and the link that opens a share in its app, such as \
            iCloud.org.example.notes=notes://share?url={url}; the page behind a share's URL leads \
            there. May be given several times.
            """,
            valueName: "container=url"
        )
    )
    var shareAppURLs: [String] = []

    @Option(
        name: .customLong("tls-certificate"),
        help: ArgumentHelp(
            """
            The certificate that the server shows, and those that sign it, in PEM: then it speaks https. \
            Read anew when it changes.
            """, valueName: "file"),
        completion: .file()
    )
    var certificate: String?

    @Option(
        name: .customLong("tls-key"),
        help: ArgumentHelp("The key of the certificate, in PEM.", valueName: "file"),
        completion: .file()
    )
    var key: String?

    @Flag(
        help: "Let whoever opens the sign-in page be a user, with a name and a password of theirs.")
    var allowSignUp = false

    @Flag(
        help: """
            For tests, on this machine only: whoever has a management token moves the server's time \
            (/admin/1/clock) and lets requests fail (/admin/1/faults).
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
            What goes first from a payload over 4096 bytes: as documented in Apple's header, or \
            the values of desired keys.
            """
    )
    var pruning = PruningOrder.header

    @Option(
        help: ArgumentHelp(
            """
            How long changes are kept for `tidebell push explain`, at most 720 hours; 0 keeps \
            nothing (default: 24).
            """,
            valueName: "hours"
        )
    )
    var explanationHours: Int?

    @Option(
        help: """
            What becomes of a subscription that fires like another one of the user: refused \
            but for database subscriptions, never refused, or always.
            """
    )
    var duplicateSubscriptions = DuplicatePolicy.standard

    @Option(
        help: """
            The error of a save of a new record whose ID exists: serverRecordChanged, \
            or serverRejectedRequest.
            """
    )
    var existingRecords = ExistingRecordPolicy.standard

    @Option(
        help: """
            Whether what Apple's servers refuse is refused where it would work here: lenient lets it \
            through and says so in the log and in 'push explain'.
            """
    )
    var strictness = Strictness.lenient

    @OptionGroup var limits: LimitOptions

    @OptionGroup(title: "Encryption") var rootKey: RootKeyOptions

    @OptionGroup(title: "One caller's share") var shares: ShareOptions

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
        } catch let error as OperatorError {
            throw ValidationError(error.description)
        }
        _ = try shareApps()
        guard (certificate == nil) == (key == nil) else {
            throw ValidationError("--tls-certificate and --tls-key go together.")
        }
        guard !testControls || (Self.ownHosts.contains(host) && publicURL == nil) else {
            throw ValidationError(
                "--test-controls is for a server that only this machine reaches: neither --host nor "
                    + "--public-url goes with it.")
        }
        if let publicURL, !publicURL.hasPrefix("http://"), !publicURL.hasPrefix("https://") {
            throw ValidationError("The public URL must begin with http:// or https://.")
        }
    }

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
        configuration.stores = data.dataFolder.stores
        configuration.host = host
        configuration.port = port
        configuration.logLevel = logLevel
        configuration.publicURL = publicURL.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        configuration.shareApps = try shareApps()
        configuration.allowsSignUp = allowSignUp
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
        let server = try await TidebellServer(configuration)
        warn(server)
        try await server.run { address in
            do {
                let url = server.configuration.publicURL ?? address.clientURL
                let listening =
                    "Tidebell is listening on "
                    + address.description(publicURL: server.configuration.publicURL)
                    + ". Its data is in \(data.shortPath)."
                    + ProxyNotice.sentence(trusting: server.configuration.shares.trustedProxies)
                if let firstRun = try await server.cloud.accounts.prepareFirstRun() {
                    try welcome(listening, url, firstRun)
                } else if try await server.cloud.accounts.tokens(.api).isEmpty {
                    report(
                        "\(listening) It has no API token yet, which every program needs: "
                            + "tidebell api-token create\(data.hint)"
                    )
                } else {
                    report("\(listening) For a token: tidebell user token NAME\(data.hint)")
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
            reportError("Deleted for good, since their keys are lost: \(server.givenUp).")
        }
        if configuration.hasTestControls {
            reportError(
                "This server is for tests (--test-controls): its time can be moved, and what is saved "
                    + "then stays in the future. Use a data folder that nobody needs.")
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
            keeping: "The tokens are written here alone: remove this file when you have them."
        )
        let path = try data.dataFolder.write(text, named: Self.firstRunFile)
        report(
            "\(listening) This is its first run: an API token and the user '\(firstRun.userName)' were made. The tokens are in "
                + "\(path), which only you can read; remove it when you have them."
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
            \(keeping) The web token is good in all containers: \
            it is for your own use; apps get ones of their own when they sign in.

            1. Set where the cloud is, for the programs that use the CloudKit module:

               export TIDEBELL_SERVER=\(url)
               export TIDEBELL_API_TOKEN=\(firstRun.apiToken)

            2. Sign '\(firstRun.userName)' in on this machine, which asks for the web token:

               tidebell login --container iCloud.org.example.notes --token-file -

               Or by a variable, in CI:

               export TIDEBELL_WEB_AUTH_TOKEN=\(firstRun.webToken)

            3. Ask by hand:

               curl "$TIDEBELL_SERVER\(list)?ckAPIToken=$TIDEBELL_API_TOKEN\
            &ckWebAuthToken=$TIDEBELL_WEB_AUTH_TOKEN"

            More users and tokens, also while this runs:

               tidebell user add NAME\(data.hint)
               tidebell user password NAME\(data.hint)
               tidebell user token NAME\(data.hint)
               tidebell api-token create\(data.hint)

            """
    }
}
