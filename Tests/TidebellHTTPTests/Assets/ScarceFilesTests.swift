// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellWire

@testable import TidebellServer
import Logging

@Suite("Files where the process has too much open")
struct ScarceFilesTests {
    @Test("H1: a download then is TRY_AGAIN_LATER and logged once; another failure is damage")
    func download() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-scarce-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let log = TestLog(level: .warning)
        let files = try AssetFolder(folder, logger: log.logger)
        func code(_ number: Int32) -> ServerErrorCode {
            errno = number
            return files.failure(DiskError("open"), reading: "f").code
        }
        // Reaching the limit itself would end the process.
        #expect([EMFILE, ENFILE, EMFILE].map(code) == Array(repeating: .tryAgainLater, count: 3))
        #expect(log.detailedLines.count == 1)
        #expect(code(EIO) == .internalError)
    }
}
