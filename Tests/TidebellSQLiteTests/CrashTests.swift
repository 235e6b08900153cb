// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellCore

@testable import TidebellSQLite

@Suite("Crashes")
struct CrashTests {
    @Test("What writes returned from is there after the process was killed among others")
    func killedProcess() async throws {
        let path = SQLiteEngine.newPath()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let store = try SQLiteStore.open(at: path)
            await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<8 {
                    group.addTask {
                        for number in 0... {
                            _ = try await store.write(.everything) {
                                try $0.createAccount(named: "\(writer)-\(number)", at: .noon)
                            }
                            // The promise is made: it is noted beside the store.
                            try Data().write(
                                to: URL(fileURLWithPath: "\(path)-\(writer)-\(number)"))
                            if number == 50 { kill(getpid(), SIGKILL) }
                        }
                    }
                }
            }
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        let prefix = "tidebell.sqlite-"
        let promised = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasPrefix(prefix) && $0.last?.isNumber == true }
            .map { String($0.dropFirst(prefix.count)) }
        let store = try SQLiteStore.open(at: path)
        let kept = try await store.read { try $0.accountNames() }
        #expect(promised.count >= 51)
        #expect(Set(promised).isSubset(of: kept))
        try await store.close()
        try FileManager.default.removeItem(at: folder)
    }
}
