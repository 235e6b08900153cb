// SPDX-License-Identifier: Apache-2.0
package import Testing

/// Returns true once `condition` holds, which other tasks bring about; false only when its own task is
/// cancelled.
///
/// For what nobody can be waited for directly. It looks again after pauses that get longer: a loop of
/// yields takes the processor from those who are to make the condition true. There is no limit of its own:
/// how long something takes on a busy machine proves nothing about it. ``TimeLimitTrait/hangs``
/// ends a wait in vain.
@discardableResult
package func eventually(
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async rethrows -> Bool {
    var pause = Duration.microseconds(50)
    while try await !condition() {
        // Ends early at a cancellation only.
        guard (try? await Task.sleep(for: pause)) != nil else { return false }
        pause = min(pause * 2, .milliseconds(20))
    }
    return true
}

/// Gives other tasks the chance to do what they should not do. That they did not is a hint and no proof:
/// never wait like this for something that has to happen.
package func letOthersRun() async {
    for _ in 0..<32 { await Task.yield() }
}

extension Duration {
    /// What a test gives to what has a limit of real time, where the limit is not what it is about: a busy
    /// machine never takes so long, and what hangs is named by its own error before ``Testing/Trait/hangs``.
    package static var patience: Duration { .seconds(600) }
}

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that hangs: longer than the whole suite takes on a machine whose cores are all busy, since
    /// all tests begin together and then wait for their turn.
    package static var hangs: Self { hangs(minutes: 0) }

    /// Ends a test that hangs, of which it is known that it takes so many minutes by itself.
    package static func hangs(minutes: Int) -> Self { .timeLimit(.minutes(30 + minutes)) }
}
