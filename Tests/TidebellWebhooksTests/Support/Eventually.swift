// SPDX-License-Identifier: Apache-2.0

/// Returns once `condition` holds, giving other tasks the chance to make it so;
/// the suite's time limit ends a wait in vain.
func eventually(_ condition: @Sendable () -> Bool) async {
    while !condition(), !Task.isCancelled { await Task.yield() }
}

/// Lets other tasks do all they can do now.
func letOthersRun() async {
    for _ in 0..<500 { await Task.yield() }
}
