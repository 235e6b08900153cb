// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

extension DatabaseConnection {
    /// Downloads the files of fetched records; a record whose file cannot be had fails
    /// with `assetNotAvailable` (ASSET-9). Some files are on the way at a time, and
    /// results are in the order of the records.
    ///
    /// Fails for reasons that are not the records': cancelled, no network, nobody signed
    /// in. Nothing may be reported then of what came with them, such as a change token.
    ///
    /// - Parameter notify: Called with how much of a record's files is there, by the
    ///   record's index.
    func withAssets(
        _ records: [Result<CKRecord, CKError>], _ options: RequestOptions,
        progress notify: @escaping @Sendable (Int, Double) -> Void = { _, _ in }
    ) async throws(CKError) -> [Result<CKRecord, CKError>] {
        var wanted: [(record: Int, asset: CKAsset, field: CKAsset.Field)] = []
        for (index, record) in records.enumerated() {
            guard case .success(let record) = record else { continue }
            for (asset, field) in record.assets(in: self) { wanted.append((index, asset, field)) }
        }
        guard !wanted.isEmpty else { return records }
        let files = wanted
        let progress = TransferProgress(
            of: files.map { (owner: $0.record, size: $0.asset.stored?.size ?? 0) }, notify: notify
        )
        let results = await inParallel(files.count) { index in
            await AssetDownload(
                asset: files[index].asset, field: files[index].field, database: self,
                options: options
            ) { progress.moved(file: index, to: $0) }.run()
        }
        progress.end()
        var records = records
        for (file, result) in zip(files, results) {
            guard case .failure(let error) = result else { continue }
            if error.code.stopsDownloads { throw error }
            // The first reason stays.
            if case .success = records[file.record] { records[file.record] = .failure(error) }
        }
        return records
    }
}

extension CKRecord {
    /// The assets of the record with the fields they are in.
    fileprivate func assets(
        in database: DatabaseConnection
    ) -> [(asset: CKAsset, field: CKAsset.Field)] {
        var found: [(key: FieldKey, assets: [CKAsset])] = []
        // Encrypted fields cannot have any.
        state.withLock { state in
            for (key, value) in state.plain.values {
                let assets = value.assets
                if !assets.isEmpty { found.append((key, assets)) }
            }
        }
        return found.sorted { $0.key < $1.key }.flatMap { key, assets in
            let field = CKAsset.Field(
                container: database.container.identifier, scope: database.scope,
                recordID: recordID, key: key
            )
            return assets.map { ($0, field) }
        }
    }
}

extension CKRecord.FieldValue {
    /// The assets that it is or has.
    fileprivate var assets: [CKAsset] {
        switch self {
        case .asset(let asset): [asset]
        case .list(let elements):
            elements.compactMap { if case .asset(let asset) = $0 { asset } else { nil } }
        default: []
        }
    }
}

extension CKError.Code {
    /// Whether a download fails like this whatever its file is: the next one would
    /// fail alike. Anything else is about one file, which must not keep others away.
    fileprivate var stopsDownloads: Bool {
        switch self {
        case .operationCancelled, .networkUnavailable, .networkFailure, .serviceUnavailable,
            .requestRateLimited, .notAuthenticated, .accountTemporarilyUnavailable,
            // This device's configuration is gone.
            .badContainer:
            true
        default: false
        }
    }
}

/// The download of one asset's file.
private struct AssetDownload: Sendable {
    let asset: CKAsset
    let field: CKAsset.Field
    let database: DatabaseConnection
    let options: RequestOptions
    /// Called with how many bytes are there.
    let moved: @Sendable (Int64) -> Void

    func run() async -> Result<Void, CKError> {
        asset.setField(field)
        do {
            try await download()
            return .success(())
        } catch is CancellationError {
            return .failure(.cancelled())
        } catch let error as CKError where error.code.stopsDownloads {
            return .failure(error.ofAccount)
        } catch {
            let why = (error as? CKError)?.localizedDescription ?? "\(error)"
            return .failure(
                .local(
                    .assetNotAvailable,
                    "The file of \(field.name) cannot be downloaded: \(why)",
                    userInfo: [NSUnderlyingErrorKey: error]
                )
            )
        }
    }

    private func download() async throws {
        guard let stored = asset.stored, let url = stored.downloadURL else {
            throw StagedFile.Mismatch(description: "the server did not name its URL")
        }
        let path = try AssetUploads.path(of: url)
        let configuration = try database.container.address().configuration
        let staging = AssetStaging(of: configuration)
        let date = database.container.session.date
        let (fileURL, file) = try await AssetFile.onDisk {
            staging.purgeIfDue(receiving: stored.size, now: date())
            let fileURL = try staging.makeFileURL()
            return (fileURL, try StagedFile(fileURL))
        }
        try await receive(path, size: stored.size, into: file)
        let stamp = try await AssetFile.onDisk {
            try file.finish(
                size: stored.size, checksum: stored.fileChecksum, at: date()
            )
        }
        asset.setDownloaded(to: fileURL, stamp: stamp)
    }

    /// Receives the file; a connection that is lost is taken up where it broke.
    private func receive(_ path: String, size: Int64, into file: StagedFile) async throws {
        let clock = database.container.session.clock
        var attempt = 0
        var emptyAnswers = 0
        while true {
            attempt += 1
            let start = file.size
            let failure: RequestFailure
            do {
                return try await options.withinDeadline(on: clock) {
                    try await receiveRest(path, size: size, into: file)
                }
            } catch let error as RequestFailure {
                failure = error
            } catch let error as EarlyEnd {
                failure = error.failure
                // Answers that end in order may be cut short on the way once; a file that
                // is too short always ends at the same byte.
                emptyAnswers = file.size == start ? emptyAnswers + 1 : 0
                guard emptyAnswers < Self.mostEmptyAnswers else {
                    throw StagedFile.Mismatch(
                        description: "the server sends \(file.size) of \(size) bytes"
                    )
                }
            }
            guard
                let delay = options.wait(
                    after: attempt, failure, by: .ofFiles(options),
                    jitter: database.container.session.jitter()
                )
            else { throw failure.error }
            try await clock.sleep(
                for: delay, awaitedFor: "to download a file again, after: \(failure.error)")
        }
    }

    /// Answers in a row that ended without bringing anything, after which the file is
    /// taken for broken. Connections that break do not count: a file that the server cannot
    /// read from there on is refused when the rest is asked for.
    private static let mostEmptyAnswers = 2

    /// The answer ended in order before the file did.
    private struct EarlyEnd: Error {
        var failure: RequestFailure
    }

    private func receiveRest(_ path: String, size: Int64, into file: StagedFile) async throws {
        let container = database.container
        try Task.checkCancellation()
        var headers = options.headers(hasBody: false)
        let start = file.size
        if start > 0 { headers.append(("Range", "bytes=\(start)-")) }
        let request = TransportRequest(
            method: SendAsset.route.method.rawValue, path: path, headers: headers)
        let transport = try container.transport(options)
        let stream: TransportStream
        do {
            stream = try await transport.download(request)
        } catch {
            throw RequestFailure(error, container: container.identifier)
        }
        guard stream.status == (start > 0 ? 206 : 200) else {
            let response = TransportResponse(
                status: stream.status, headers: stream.headers, body: stream.body
            )
            let report = CKError.ServerReport(response, container: container.identifier)
            throw RequestFailure(.server(response, report: report), status: response.status)
        }
        do {
            try await read(stream.chunks, upTo: size, into: file)
        } catch let error as TransportError {
            throw RequestFailure(error, container: container.identifier)
        }
        guard file.size == size else {
            let error = TransportError.connectionLost("the file ended early")
            throw EarlyEnd(failure: RequestFailure(error, container: container.identifier))
        }
    }

    private func read(
        _ chunks: AsyncThrowingStream<[UInt8], any Error>, upTo size: Int64, into file: StagedFile
    ) async throws {
        let pieces = Locked(0)
        try await whileMoving(
            pieces, stallTimeout: options.timeout, on: database.container.session.clock
        ) {
            for try await chunk in chunks {
                pieces.withLock { $0 += 1 }
                guard file.size + Int64(chunk.count) <= size else {
                    throw StagedFile.Mismatch(description: "it is longer than \(size) bytes")
                }
                try await AssetFile.onDisk { try file.write(chunk) }
                moved(file.size)
            }
            // A cancelled reader sees the end of the stream, although more would come.
            try Task.checkCancellation()
        }
    }
}
