// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// Runs a task on an event loop, whose thread takes no long work: others' connections wait meanwhile.
final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
