// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import Testing
import TidebellHTTP
import TidebellScheduling
import TidebellServer
import TidebellWire

@testable import TidebellCore
import HTTPTypes
import TestSupport

@Suite("Files of records over HTTP")
struct AssetTests {
    private let bytes = Array("a picture".utf8)

    @Test("ASSET-1: a file is uploaded, saved in a record and downloaded again")
    func roundTrip() async throws {
        let api = try await TestAPI()
        let asset = try await api.upload(bytes, to: "picture", of: "r1")
        #expect(asset.size == 9)
        #expect(asset.wrappingKey != nil && asset.referenceChecksum != nil)
        let saved = try await api.save(asset, as: "picture", of: "r1")
        #expect(saved.status == 200)
        let read = try await api.asset("picture", of: "r1")
        #expect(read.fileChecksum == asset.fileChecksum)
        #expect(read.receipt == nil && read.content == nil)
        #expect(read.downloadURL?.hasSuffix("/${f}") == true)
        let file = try await api.download(read)
        #expect(file.text == "a picture")
        #expect(file[header: "Content-Length"] == "9")
        #expect(file[header: "X-Content-Type-Options"] == "nosniff")
    }

    @Test("ASSET-1: the checksum is CloudKit's; public answers have no keys")
    func checksum() async throws {
        let api = try await TestAPI()
        let asset = try await api.upload([], to: "f", of: "r1", scope: "public")
        #expect(asset.fileChecksum.count == 28 && asset.fileChecksum.hasPrefix("A"))
        #expect(asset.wrappingKey == nil && asset.referenceChecksum == nil)
        #expect(asset.size == 0)
    }

    @Test("An upload URL is for one file, and for fifteen minutes")
    func tokens() async throws {
        let api = try await TestAPI()
        let used = try await api.uploadPath("f", of: "r1")
        #expect(try await api.send("PUT", used, "one").status == 200)
        let second = try await api.send("POST", used, "two")
        #expect(second.status == 400)
        #expect(second.error?.reason.hasPrefix("the upload URL is not valid") == true)
        let late = try await api.uploadPath("f", of: "r1")
        api.clock.advance(by: .seconds(15 * 60))
        #expect(try await api.send("POST", late, "late").status == 400)
        #expect(try await api.send("POST", "/assets/1/upload/nonsense", "x").status == 400)
        #expect(try await api.send("GET", late).status == 405)
    }

    @Test("A receipt is good for its field only, and cannot be changed")
    func receipts() async throws {
        let api = try await TestAPI()
        let asset = try await api.upload(bytes, to: "picture", of: "r1")
        for (field, record) in [("other", "r1"), ("picture", "r2")] {
            let answer = try await api.save(asset, as: field, of: record)
            #expect(answer.text.contains("could not decode asset object"))
        }
        var tampered = asset
        tampered.receipt = "A" + (asset.receipt ?? "").dropFirst()
        #expect(
            try await api.save(tampered, as: "picture", of: "r1").text
                .contains("could not decode asset object"))
        tampered = asset
        tampered.size = 8
        #expect(
            try await api.save(tampered, as: "picture", of: "r1").text
                .contains("could not decode asset object"))
        var forged = WireAsset(fileChecksum: asset.fileChecksum, size: asset.size)
        forged.content = String(repeating: "0", count: 64)
        #expect(
            try await api.save(forged, as: "picture", of: "r1").text
                .contains("could not decode asset object"))
        #expect(try await api.save(asset, as: "picture", of: "r1").error == nil)
    }

    @Test("What an answer carried may come back unchanged, and a file stored twice is kept once")
    func unchanged() async throws {
        let api = try await TestAPI()
        let asset = try await api.upload(bytes, to: "picture", of: "r1")
        _ = try await api.save(asset, as: "picture", of: "r1")
        let read = try await api.asset("picture", of: "r1")
        api.clock.advance(by: .seconds(24 * 3600))
        #expect(!(try await api.save(read, as: "picture", of: "r1").text.contains("ErrorCode")))
        // Of another record it is good as long as its URL is.
        #expect(try await api.save(read, as: "picture", of: "r2").text.contains("could not decode"))
        let fresh = try await api.asset("picture", of: "r1")
        #expect(!(try await api.save(fresh, as: "picture", of: "r2").text.contains("ErrorCode")))
        _ = try await api.upload(bytes, to: "picture", of: "r3")
        #expect(try api.keptFiles().count == 1)
    }

    @Test("ASSET-7: a longer file is refused, whether its length is known before or not")
    func tooLarge() async throws {
        var limits = Limits()
        limits.assetBytes = 8
        limits.assetBytesForExtendedClients = 8
        let api = try await TestAPI(limits: limits)
        let path = try await api.uploadPath("f", of: "r1")
        let known = try await api.send(
            "POST", path, "123456789",
            headers: ["Content-Length": "9", "X-Tidebell-Extensions": "1"]
        )
        #expect(
            known.error
                == .badRequest(
                    "the file for field 'f' of record 'r1' has 9 bytes; "
                        + "an asset may have 8 here (assetBytes)",
                    ckCode: CKErrorCode.limitExceeded
                )
        )
        let unknown = try await api.send("POST", path, "123456789")
        #expect(known.status == 413 && unknown.status == 413)
        #expect(
            unknown.error
                == .badRequest(
                    "the file for field 'f' of record 'r1' has more than 8 bytes; "
                        + "an asset may have 8 here (assetBytes)"
                )
        )
        // The attempt has not used up the token.
        #expect(try await api.send("POST", path, "12345678").status == 200)
        #expect(try api.keptFiles().count == 1)
    }

    @Test("A download gives ranges, answers conditions, and ends with its URL's time")
    func downloads() async throws {
        let api = try await TestAPI()
        let asset = try await api.upload(bytes, to: "f", of: "r1")
        _ = try await api.save(asset, as: "f", of: "r1")
        let read = try await api.asset("f", of: "r1")
        let ranges = [
            "bytes=2-": (206, "picture", "bytes 2-8/9"),
            "bytes=0-0": (206, "a", "bytes 0-0/9"),
            "bytes=-4": (206, "ture", "bytes 5-8/9"),
            "bytes=7-100": (206, "re", "bytes 7-8/9"),
            "bytes=9-": (416, "", "bytes */9"),
            "bytes=0-1,3-4": (200, "a picture", nil),
            "BYTES=7-": (206, "re", "bytes 7-8/9"),
            "bytes=5-2": (200, "a picture", nil),
            "bytes=-0": (416, "", "bytes */9"),
            "bytes=-99999999999999999999": (206, "a picture", "bytes 0-8/9"),
            "bytes=7-99999999999999999999": (206, "re", "bytes 7-8/9"),
            "bytes=99999999999999999999-": (416, "", "bytes */9"),
            "bytes=x": (200, "a picture", nil),
        ]
        for (range, expected) in ranges {
            let answer = try await api.download(read, headers: ["Range": range])
            #expect(answer.status == expected.0, "\(range)")
            #expect(answer.text == expected.1, "\(range)")
            #expect(answer[header: "Content-Range"] == expected.2, "\(range)")
        }
        let damaged = (read.downloadURL ?? "").replacingOccurrences(
            of: "download/", with: "download/A")
        var changed = read
        changed.downloadURL = damaged
        #expect(try await api.download(changed).status == 403)
        api.clock.advance(by: .seconds(4 * 3600))
        let late = try await api.download(read)
        #expect(late.status == 403)
        #expect(late.error?.reason.hasPrefix("the time of the download URL is up") == true)
    }

    @Test("A download's conditions are those of RFC 9110, 13, before its range")
    func conditions() async throws {
        let api = try await TestAPI()
        _ = try await api.save(try await api.upload(bytes, to: "f", of: "r1"), as: "f", of: "r1")
        let read = try await api.asset("f", of: "r1")
        let tag = try #require(try await api.download(read)[header: "ETag"])
        let rows: [([String: String], Int)] = [
            (["If-None-Match": tag], 304),
            (["If-None-Match": "\"a\", W/\(tag)"], 304),
            (["If-None-Match": "*"], 304),
            (["If-None-Match": "\"a\""], 200),
            (["If-Match": "\"a\" , \(tag)"], 200),
            (["If-Match": "*"], 200),
            (["If-Match": "W/\(tag)"], 412),
            (["If-Match": "\"a\"", "If-None-Match": tag], 412),
            (["If-None-Match": tag, "Range": "bytes=2-"], 304),
            (["If-Range": tag, "Range": "bytes=2-"], 206),
            (["If-Range": "\"a\"", "Range": "bytes=2-"], 200),
            (["If-Range": "Wed, 21 Oct 2026 07:28:00 GMT", "Range": "bytes=2-"], 200),
        ]
        for (headers, status) in rows {
            #expect(try await api.download(read, headers: headers).status == status, "\(headers)")
        }
    }

    @Test("HEAD returns the whole file's length, whatever range is asked for")
    func head() async throws {
        let api = try await TestAPI()
        _ = try await api.save(try await api.upload(bytes, to: "f", of: "r1"), as: "f", of: "r1")
        let read = try await api.asset("f", of: "r1")
        let answer = try await api.download(read, method: "HEAD", headers: ["Range": "bytes=2-"])
        #expect(answer.status == 200)
        #expect(answer[header: "Content-Length"] == "9")
        #expect(answer[header: "Content-Range"] == nil)
    }

    @Test("An asset whose file the server has lost is refused with assetNotAvailable")
    func lostFile() async throws {
        let api = try await TestAPI()
        let asset = try await api.upload(bytes, to: "f", of: "r1")
        _ = try await api.save(try await api.upload(bytes, to: "f", of: "r2"), as: "f", of: "r2")
        let read = try await api.asset("f", of: "r2")
        _ = try await api.post(
            "private/records/modify",
            #"{"operations":[{"operationType":"forceDelete","record":{"recordName":"r2"}}]}"#
        )
        api.clock.advance(by: .seconds(25 * 3600))
        await api.collect()
        for (asset, why) in [
            (asset, "the uploaded file was not saved in time"),
            (read, "it has neither a receipt of an upload nor a valid downloadURL"),
        ] {
            let plain = try await api.save(asset, as: "f", of: "r1").text
            #expect(plain.contains("could not decode asset object: \(why)"), "\(plain)")
            #expect(!plain.contains("ckCode"))
            let extended = try await api.save(
                asset, as: "f", of: "r1", headers: ["X-Tidebell-Extensions": "1"]
            )
            #expect(extended.text.contains(#""ckCode":35"#))
        }
    }

    @Test("A stored file is referenced again by another record")
    func rereference() async throws {
        let api = try await TestAPI()
        let asset = try await api.upload(bytes, to: "picture", of: "r1")
        _ = try await api.save(asset, as: "picture", of: "r1")
        let answer = try await api.post(
            "private/assets/rereference",
            #"{"assets":[{"recordName":"r1","fieldName":"picture"},"#
                + #"{"recordName":"none","fieldName":"picture"}]}"#
        )
        #expect(answer.text.contains("NOT_FOUND"))
        let again = try JSONReader.read(Array(answer.text.utf8)) { reader in
            var found: [WireAsset] = []
            try reader.readObject { reader, _ in
                try reader.readArray { reader in
                    if found.isEmpty {
                        found.append(try WireAsset(from: &reader))
                    } else {
                        try reader.skipValue()
                    }
                }
            }
            return found
        }
        #expect(!(try await api.save(again[0], as: "other", of: "r9").text.contains("ErrorCode")))
        #expect(try await api.download(try await api.asset("other", of: "r9")).text == "a picture")
    }

    @Test("A body that breaks off leaves nothing, and its URL is still good")
    func brokenUpload() async throws {
        let api = try await TestAPI()
        let path = try await api.uploadPath("f", of: "r1")
        let response = await api.cloud.respond(
            to: WebRequest(
                .post, path,
                body: .stream { writer in
                    try await writer.write([1, 2, 3])
                    throw BodyCutShort()
                }
            )
        )
        #expect(response.status == 400)
        #expect(try api.files(in: "incoming").isEmpty)
        #expect(try api.keptFiles().isEmpty)
        #expect(try await api.send("POST", path, "whole").status == 200)
    }

    @Test("H1: a kept file is never replaced, even by a file of the same name")
    func keptFileIsNotReplaced() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-assets-\(Randomness.system.makeUUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let assets = try AssetFolder(
            folder, makeName: { "abcd" }, logger: Logger(label: "test")
        )
        func take(_ text: String) async throws -> StoredAsset? {
            try await assets.take(upTo: 100) {
                try await $0.write(Array(text.utf8))
            } keep: {
                $0
            }
        }
        let first = try #require(try await take("photo of me"))
        await #expect(throws: (any Error).self) { try await take("SECRET OF BOB") }
        let kept = try await assets.contents(of: first, in: 0..<first.size)
        #expect(try await kept?.collect() == Array("photo of me".utf8))
        let incoming = folder.appendingPathComponent("incoming").path
        #expect(try FileManager.default.contentsOfDirectory(atPath: incoming).isEmpty)
    }

    @Test("ASSET-4: a file that the store did not note goes with the next round")
    func orphans() async throws {
        let api = try await TestAPI()
        let asset = try await api.upload(bytes, to: "picture", of: "r1")
        _ = try await api.save(asset, as: "picture", of: "r1")
        let known = try api.keptFiles()
        let folder = api.folder.appendingPathComponent("assets/kept/ab")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("orphan".utf8).write(to: folder.appendingPathComponent("abcd"))
        for case let maintenance as Maintenance in api.cloud.services { await maintenance.round() }
        #expect(try api.keptFiles() == known)
    }

    @Test("ASSET-4: an orphaned file that cannot be removed keeps nothing else from being removed")
    func stubbornOrphan() async throws {
        var limits = Limits()
        limits.answerRetention = .seconds(100)
        let api = try await TestAPI(limits: limits)
        let folder = api.folder.appendingPathComponent("assets/kept/ab/abcd")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let create = #"{"operations":[{"operationType":"create","record":{"recordType":"Note"}}]}"#
        func save() async throws -> String {
            try await api.post(
                "private/records/modify", create, headers: ["X-Tidebell-Request-ID": "1"]
            ).text
        }
        let first = try await save()
        api.clock.advance(by: .seconds(101))
        #expect(try await save() == first)
        for case let maintenance as Maintenance in api.cloud.services { await maintenance.round() }
        #expect(try await save() != first)
    }

    @Test("Lists of assets are stored like single ones")
    func lists() async throws {
        let api = try await TestAPI()
        let path = try await api.uploadPath("f", of: "r1")
        let text = try await api.send("POST", path, "one").text
        let one = try JSONReader.read(Array(text.utf8)) { try UploadAssets.Receipt(from: &$0) }
        let value = String(
            decoding: JSONWriter.write { one.singleFile.write(to: &$0) }, as: UTF8.self
        )
        let saved = try await api.post(
            "private/records/modify",
            """
            {"operations":[{"operationType":"forceUpdate","record":{"recordName":"r1",\
            "recordType":"Note","fields":{"f":{"value":[\(value)],"type":"ASSET_LIST"}}}}]}
            """
        )
        #expect(saved.text.contains(#""type":"ASSETID_LIST""#))
        #expect(saved.text.contains("downloadURL"))
    }
}
