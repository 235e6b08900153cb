// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import TidebellWire

/// Uploads of the files of one zone's records.
struct AssetUploads: Sendable {
    /// The most files on the way at a time: so many connections, and pieces in memory.
    static let parallelTransfers = 4
    /// Files whose places are asked for together: few enough that no place expires
    /// before its turn.
    static let filesPerRequest = 16

    /// A file to upload.
    struct File: Sendable {
        let slot: AssetSlot
        let url: URL
        let recordType: String
    }

    let database: DatabaseConnection
    let zoneID: ZoneID
    let options: RequestOptions

    /// Uploads files, each of which fails alone; results are in the order of the files.
    ///
    /// - Parameter moved: Told of bytes of a file that were read, by its place.
    func upload(
        _ files: [File], moved: @escaping @Sendable (Int, Int) -> Void
    ) async -> [Result<CKAsset.StoredFile, CKError>] {
        var results: [Result<CKAsset.StoredFile, CKError>] = []
        for start in stride(from: 0, to: files.count, by: Self.filesPerRequest) {
            let end = min(start + Self.filesPerRequest, files.count)
            results += await uploadTogether(Array(files[start..<end])) { moved(start + $0, $1) }
        }
        return results
    }

    private func uploadTogether(
        _ files: [File], moved: @escaping @Sendable (Int, Int) -> Void
    ) async -> [Result<CKAsset.StoredFile, CKError>] {
        let places: [String]
        do {
            places = try await askForPlaces(files)
        } catch {
            return files.map { _ in .failure(error) }
        }
        return await inParallel(files.count) { index in
            await upload(files[index], to: places[index]) { moved(index, $0) }
        }
    }

    /// Uploads a file; a connection that is lost has it begin again at a new place.
    private func upload(
        _ file: File, to place: String, moved: @escaping @Sendable (Int) -> Void
    ) async -> Result<CKAsset.StoredFile, CKError> {
        var place = place
        var attempt = 0
        while true {
            attempt += 1
            let failure: RequestFailure
            do {
                return .success(try await send(file, to: place, moved: moved))
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
                try await database.container.session.clock.sleep(for: delay)
                place = try await askForPlaces([file])[0]
            } catch {
                return .failure(error as? CKError ?? .cancelled())
            }
        }
    }

    private func askForPlaces(_ files: [File]) async throws(CKError) -> [String] {
        let request = UploadAssets.Request(
            zoneID: zoneID,
            tokens: files.map { file in
                UploadAssets.Field(
                    recordName: file.slot.field.recordID.recordName,
                    recordType: file.recordType, fieldName: file.slot.field.key
                )
            }
        )
        let answer = try await database.uploadAssets(request, options)
        var places: [String] = []
        for token in answer.value { places.append(try Self.path(of: token.url)) }
        return places
    }

    private func send(
        _ file: File, to place: String, moved: @escaping @Sendable (Int) -> Void
    ) async throws(RequestFailure) -> CKAsset.StoredFile {
        let container = database.container
        guard !Task.isCancelled else { throw RequestFailure(.cancelled()) }
        do {
            let source = try AssetFile(file.url, of: file.slot.field.name)
            let response = try await container.transport(options).upload(
                TransportRequest(
                    method: "POST", path: place,
                    headers: options.headers(hasBody: false)
                        + [("Content-Type", "application/octet-stream")]
                ),
                of: TransportFile(size: source.stamp.size) {
                    let piece = try await source.next()
                    if let piece { moved(piece.count) }
                    return piece
                },
                stallTimeout: options.timeout
            )
            let report = CKError.ServerReport(response, container: container.identifier)
            guard response.status == 200 else {
                throw RequestFailure(
                    .server(response, report: report), status: response.status)
            }
            let checksum = try source.finish()
            let receipt = try JSONReader.read(response.body) {
                try UploadAssets.Receipt(from: &$0).singleFile
            }
            guard receipt.fileChecksum == checksum, receipt.size == source.stamp.size else {
                throw TransportError.connectionLost("the file arrived damaged")
            }
            let stored = CKAsset.StoredFile(receipt)
            file.slot.asset.setUploaded(stored, for: file.slot.field, stamp: source.stamp)
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
        guard let start = url.range(of: WireProtocol.assetsPath) else {
            throw .local(
                .assetNotAvailable, "The server names a place for files that is not its own.")
        }
        return String(url[start.lowerBound...])
            .replacingOccurrences(of: WireProtocol.fileNamePlaceholder, with: "asset")
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
