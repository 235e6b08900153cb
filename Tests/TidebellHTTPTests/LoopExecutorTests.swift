// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOPosix
import TestSupport
import Testing
import TidebellScheduling
import TidebellWire

@testable import TidebellHTTP

@Suite("Requests on their connection's event loop", .hangs)
struct LoopExecutorTests {
    @Test("A short answer is written on the loop, a long one elsewhere")
    func answers() async {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        func isOnLoop(estimate: Int) async -> Bool {
            await Task(executorPreference: LoopExecutor(loop)) {
                let isOnLoop = Locked(false)
                _ = await WebResponse.json(estimate: estimate) { writer in
                    isOnLoop.withLock { $0 = loop.inEventLoop }
                    writer.object { _ in }
                }
                return isOnLoop.withLock { $0 }
            }.value
        }
        #expect(await isOnLoop(estimate: 1000))
        #expect(await !isOnLoop(estimate: 1_000_000))
    }
}
