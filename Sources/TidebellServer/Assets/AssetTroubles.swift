// SPDX-License-Identifier: Apache-2.0
import Logging
import Synchronization
import TidebellCore
import TidebellWire

/// What is in the way of files of records: logged for the operator once until it is over, and made an error for clients.
final class AssetTroubles: Sendable {
    /// What the disk, the system or a service is in the way of.
    enum Trouble: String {
        case storing = "files of records cannot be stored"
        case opening = "files of records cannot be opened"
        case reaching = "the bucket with the files of records cannot be used"
    }

    /// Seconds that a client should wait while the disk is full.
    private static let fullRetryAfter = 60.0
    /// Seconds that a client should wait while too many files are open.
    private static let shortRetryAfter = 5.0

    private let place: Logger.Metadata
    private let search: DamageSearch
    private let damage: DamagedFileLog
    private let logger: Logger
    private let current = Mutex(Set<Trouble>())

    /// - Parameters:
    ///   - place: Where the files are.
    ///   - search: How the operator finds what is damaged.
    ///   - remedy: What an operator can do about one that is damaged.
    ///   - name: Where one of them is, for the log.
    init(
        _ place: Logger.Metadata, _ search: DamageSearch, remedy: String,
        naming name: @escaping @Sendable (String) -> String,
        logger: Logger
    ) {
        self.place = place
        self.search = search
        self.logger = logger
        damage = DamagedFileLog(remedy: remedy, naming: name)
    }

    /// Logs a trouble unless it was.
    func begin(_ trouble: Trouble, _ error: any Error) {
        guard current.withLock({ $0.insert(trouble).inserted }) else { return }
        var metadata = place
        metadata["error"] = "\(error)"
        if let advice = (error as? BucketFailure)?.advice { metadata["advice"] = "\(advice)" }
        logger.warning("\(trouble.rawValue)", metadata: metadata)
    }

    /// Notes that something worked.
    func end(_ trouble: Trouble) {
        current.withLock { _ = $0.remove(trouble) }
    }

    /// Logs a file that is damaged or lost, once.
    func reportDamage(of file: String, _ problem: String) {
        damage.report(file, problem, to: logger)
    }

    /// Returns the error for the client whose file a full or failing disk does not take, and logs it.
    func refusal(_ error: any Error) -> any Error {
        guard let error = error as? DiskError, error.mayPass else { return error }
        begin(.storing, error)
        return WireError(
            .tryAgainLater,
            error.isOutOfSpace
                ? "the server has no room for files now" : "the server cannot store files now",
            retryAfter: Self.fullRetryAfter
        )
    }

    /// Returns the error for a client whose file cannot be read, and logs it.
    func failure(_ error: any Error, reading file: String) -> WireError {
        if let error = error as? DiskError, error.isShortage {
            begin(.opening, error)
            return WireError(
                .tryAgainLater, "the server has too many files open now",
                retryAfter: Self.shortRetryAfter
            )
        }
        damage.report(file, "\(error)", to: logger)
        return WireError(
            .internalError,
            "the server cannot read the file; its operator finds what is damaged "
                + search.whereabouts
        )
    }
}
