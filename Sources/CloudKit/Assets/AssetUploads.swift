// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// Uploads of the files of one zone's records.
struct AssetUploads: Sendable {
    /// The most files on the way at a time: so many connections, and pieces in memory.
    static let parallelTransfers = 4
    /// Files whose upload paths are asked for together: few enough that no path expires
    /// before its turn.
    static let filesPerRequest = 16

    /// A file to upload.
    struct File: Sendable {
        let slot: AssetSlot
        let url: URL
        let recordType: String
        /// How often the record is sent.
        let attempt: Int

        /// The name under which a long-lived operation keeps that the file was uploaded.
        var name: String {
            let recordID = slot.field.recordID
            return "assets/\(recordID.zoneID.ownerName)/\(recordID.zoneID.zoneName)/"
                + "\(recordID.recordName)/\(slot.field.key)/\(slot.index ?? 0)/\(attempt)"
        }
    }

    let database: DatabaseConnection
    let zoneID: ZoneID
    let options: RequestOptions

    /// Uploads files, each of which fails alone; results are in the order of the files.
    ///
    /// What a long-lived operation has uploaded before is not uploaded again.
    ///
    /// - Parameter moved: Called with how many bytes of a file were read, by the file's index.
    func upload(
        _ files: [File], moved: @escaping @Sendable (Int, Int64) -> Void
    ) async -> [Result<CKAsset.StoredFile, CKError>] {
        var results = files.map { file in
            options.journal?.uploadedFile(named: file.name).map(Result<_, CKError>.success)
        }
        for indices in results.indices.filter({ results[$0] == nil }).chunked(
            by: Self.filesPerRequest
        ) {
            let indices = Array(indices)
            let uploaded = await uploadTogether(indices.map { files[$0] }) {
                moved(indices[$0], $1)
            }
            for (index, result) in zip(indices, uploaded) { results[index] = result }
        }
        return results.compactMap { $0 }
    }

    private func uploadTogether(
        _ files: [File], moved: @escaping @Sendable (Int, Int64) -> Void
    ) async -> [Result<CKAsset.StoredFile, CKError>] {
        let paths: [String]
        do {
            paths = try await askForUploadPaths(files)
        } catch {
            return files.map { _ in .failure(error) }
        }
        return await inParallel(files.count) { index in
            await upload(files[index], to: paths[index]) { moved(index, $0) }
        }
    }

    /// Uploads a file; a connection that is lost has it begin again at a new path.
    private func upload(
        _ file: File, to path: String, moved: @escaping @Sendable (Int64) -> Void
    ) async -> Result<CKAsset.StoredFile, CKError> {
        var path = path
        var attempt = 0
        while true {
            attempt += 1
            let failure: RequestFailure
            do {
                return .success(try await send(file, to: path, moved: moved))
            } catch {
                failure = error
            }
            guard
                let delay = options.wait(
                    after: attempt, failure, by: .ofFiles(options),
                    jitter: database.container.session.jitter()
                )
            else { return .failure(failure.error) }
            do {
                try await database.container.session.clock.sleep(
                    for: delay, awaitedFor: "to upload a file again, after: \(failure.error)")
                path = try await askForUploadPaths([file])[0]
            } catch {
                return .failure(error as? CKError ?? .cancelled(error))
            }
        }
    }

    private func askForUploadPaths(_ files: [File]) async throws(CKError) -> [String] {
        let request = UploadAssets.Request(
            zoneID: zoneID,
            tokens: files.map { file in
                UploadAssets.Field(
                    recordName: file.slot.field.recordID.recordName,
                    recordType: file.recordType, fieldName: file.slot.field.key
                )
            }
        )
        let answer = try await database.send(
            // Each path is for one file, and not for long.
            UploadAssets.self, request, options, isKept: false
        )
        var paths: [String] = []
        for token in answer.value.tokens { paths.append(try Self.path(of: token.url)) }
        return paths
    }

    private func send(
        _ file: File, to path: String, moved: @escaping @Sendable (Int64) -> Void
    ) async throws(RequestFailure) -> CKAsset.StoredFile {
        let container = database.container
        guard !Task.isCancelled else { throw RequestFailure(.cancelled()) }
        do {
            let source = try AssetFile(file.url, of: file.slot.field.name)
            let request = TransportRequest(
                method: ReceiveAsset.route.method.rawValue, path: path,
                headers: options.headers(hasBody: false)
                    + [("Content-Type", "application/octet-stream")]
            )
            let contents = TransportFile(size: source.stamp.size) {
                let piece = try await source.next()
                moved(source.position)
                return piece
            }
            let transport = try container.transport(options)
            let response = try await options.withinDeadline(on: container.session.clock) {
                try await transport.upload(
                    request, of: contents, stallTimeout: options.timeout
                )
            }
            let report = CKError.ServerReport(response, container: container.identifier)
            guard response.status == 200 else {
                throw RequestFailure(
                    .server(response, report: report), status: response.status)
            }
            let checksum = try source.finish()
            let stored = try CKAsset.StoredFile(receipt: response.body)
            guard stored.fileChecksum == checksum, stored.size == source.stamp.size else {
                throw TransportError.connectionLost("the file arrived damaged")
            }
            file.slot.asset.setUploaded(stored, for: file.slot.field, stamp: source.stamp)
            options.journal?.keep(response, as: file.name, at: container.session.date())
            return stored
        } catch let error as RequestFailure {
            throw error
        } catch {
            throw RequestFailure(error, container: container.identifier)
        }
    }

    /// Returns the path of a URL of the server's: files go where all requests go,
    /// wherever the URL points.
    static func path(of url: String) throws(CKError) -> String {
        guard let start = url.range(of: WirePath.Root.assets.prefix) else {
            throw .local(
                .assetNotAvailable, "The server names an upload URL that is not its own.")
        }
        return String(url[start.lowerBound...])
            .replacingOccurrences(of: WireProtocol.fileNamePlaceholder, with: "asset")
    }
}

extension CKAsset.StoredFile {
    /// Reads the answer to the upload of a file.
    fileprivate init(receipt: [UInt8]) throws {
        self.init(
            try JSONReader.read(receipt) { try UploadAssets.Receipt(from: &$0).singleFile }
        )
    }
}

extension RequestJournal {
    /// The file that was uploaded under a name; nil when none was.
    fileprivate func uploadedFile(named name: String) -> CKAsset.StoredFile? {
        // What cannot be read is uploaded again.
        answer(to: name).flatMap { try? CKAsset.StoredFile(receipt: $0.body) }
    }
}

/// Runs `body` for each number below `count`, some at a time; results are in order.
func inParallel<Value: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) async -> Value
) async -> [Value] {
    await withTaskGroup(of: (Int, Value).self) { group in
        var values = [Value?](repeating: nil, count: count)
        for index in 0..<min(count, AssetUploads.parallelTransfers) {
            group.addTask { (index, await body(index)) }
        }
        var next = min(count, AssetUploads.parallelTransfers)
        while let (index, value) = await group.next() {
            values[index] = value
            guard next < count else { continue }
            let index = next
            group.addTask { (index, await body(index)) }
            next += 1
        }
        return values.compactMap { $0 }
    }
}
