// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

extension EnduranceBenchmark {
    /// The thread that reads what the devices are told.
    final class Reading: @unchecked Sendable {
        private let crowd: DeviceCrowd
        private let users: [EnduranceUser]
        private let benchmark: EnduranceBenchmark
        private let counts: Mutex<[Int]>
        private let isOver = Mutex(false)
        private let stopped = DispatchSemaphore(value: 0)

        init(_ crowd: DeviceCrowd, _ users: [EnduranceUser], _ benchmark: EnduranceBenchmark) {
            self.crowd = crowd
            self.users = users
            self.benchmark = benchmark
            counts = Mutex([Int](repeating: 0, count: crowd.count))
        }

        func start() { Thread.detachNewThread { [self] in read() } }

        func end() {
            isOver.withLock { $0 = true }
            stopped.wait()
        }

        /// Returns when every device was told of every save.
        func waitForAll(atMost seconds: Double) throws {
            let end = monotonicNow() + UInt64(seconds * 1e9)
            while let missing = missing() {
                guard monotonicNow() < end else { throw BenchmarkError(missing) }
                Thread.sleep(forTimeInterval: 0.05)
            }
        }

        private func missing() -> String? {
            let saves = users.map(\.saves)
            return counts.withLock { counts in
                for (device, count) in counts.enumerated() {
                    let expected = saves[device / EnduranceBenchmark.devicesPerUser]
                    guard count == expected else {
                        return "device \(device) was told of \(count) saves, not \(expected)"
                    }
                }
                return nil
            }
        }

        private func read() {
            defer { stopped.signal() }
            while !isOver.withLock({ $0 }) {
                var came: [Int] = []
                do {
                    try crowd.receive(atMost: 100) { came.append($0) }
                } catch {
                    benchmark.results.withLock { $0.failure = $0.failure ?? error }
                    return
                }
                let now = monotonicNow()
                var moments: [UInt64] = []
                counts.withLock { counts in
                    for device in came {
                        let user = users[device / EnduranceBenchmark.devicesPerUser]
                        if let moment = user.moment(ofPush: counts[device]) {
                            moments.append(moment)
                        }
                        counts[device] += 1
                    }
                }
                benchmark.results.withLock { results in
                    results.pushCount += came.count
                    for moment in moments { results.pushes.record(now - min(now, moment)) }
                }
            }
        }
    }
}
