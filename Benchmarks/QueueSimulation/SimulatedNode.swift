// SPDX-License-Identifier: Apache-2.0
import TidebellCore

/// A server process with the pipeline of one queue.
struct SimulatedNode {
    /// What a pass works on: of each database the changes after `done`.
    struct Part {
        var lease: QueueLease<DatabaseID>
        var done: Int
        var count: Int
    }

    /// What the pipeline waits for.
    enum Step {
        case looked, claimed, read, worked, gaveBack, rested
    }

    let cell: Int
    /// By how much its clock is ahead.
    let clockError: Duration
    var isUp = true
    /// How often it was started anew.
    var life = 0
    var frozenSince = Duration.zero
    var frozenUntil = Duration.zero
    /// When it will be killed, and was, and when it hears no news.
    var death: Duration?
    var killedAt = Duration.zero
    var deafness: Range<Duration>?

    // The pipeline: see PushPipeline+Service.
    var isIdle = true
    var isRaised = false
    var alarm = 0
    var claimedAt = Duration.zero
    var gaveFailed = false
    var leases: [QueueLease<DatabaseID>] = []
    var pass: [Part] = []
    var isFailing = false
    var failuresInRound = 0
    var troubledRounds = 0

    // What it tells of logs.
    var newsBegin = Duration.zero
    var newsEnd = Duration.zero

    mutating func kill(at moment: Duration) {
        isUp = false
        killedAt = moment
        life += 1
        (isIdle, isRaised, alarm) = (true, false, alarm + 1)
        (leases, pass, gaveFailed) = ([], [], false)
        (failuresInRound, troubledRounds) = (0, 0)
        frozenUntil = .zero
    }
}
