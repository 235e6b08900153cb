// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Testing
import TidebellTesting

/// Has the clouds of a suite's fixtures looked at when each test has ended: a push that nobody took,
/// trouble that the server logged, a file on its way fail the test.
struct FinishedClouds: SuiteTrait, TestTrait, TestScoping {
    private final class Fixtures: Sendable {
        let made = Mutex<[(cloud: TestCloud, devices: [TestDevice])]>([])
    }

    @TaskLocal private static var fixtures: Fixtures?

    let isRecursive = true

    /// Has a cloud looked at when the test has ended, where the suite asks for it.
    ///
    /// - Parameter devices: Devices whose pushes count; they are kept until then.
    static func add(_ cloud: TestCloud, _ devices: TestDevice...) {
        fixtures?.made.withLock { $0.append((cloud, devices)) }
    }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let fixtures = Fixtures()
        try await Self.$fixtures.withValue(fixtures) { try await function() }
        let leavesPushes = test.traits.contains { $0 is LeftPushes }
        for (cloud, devices) in fixtures.made.withLock(\.self) {
            do {
                if leavesPushes {
                    try await cloud.settle()
                    for device in devices { _ = device.takePushes() }
                }
                try await cloud.finish()
            } catch TestCloudError.misuse {
                // The test has stopped it already.
            }
            withExtendedLifetime(devices) {}
        }
    }
}

extension Trait where Self == FinishedClouds {
    /// Has the clouds of the fixtures looked at when each test has ended.
    static var finishesClouds: Self { Self() }
}

/// A test that is not about pushes, and leaves those that come.
struct LeftPushes: SuiteTrait, TestTrait {
    let isRecursive = true
}

extension Trait where Self == LeftPushes {
    /// Pushes that nobody takes are no fault of this test: it is about what causes them.
    static var leavesPushes: Self { Self() }
}
